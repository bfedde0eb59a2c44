/**
 * Domains of companies that give addresses to others: internet and mobile providers, hosting, clouds, proxies. A name
 * under such a domain says nothing about the company that a visitor works for.
 */
const NETWORK_DOMAINS =
  `amazonaws.com awsglobalaccelerator.com cloudfront.net googleusercontent.com 1e100.net google.com azure.com cloudapp.net
  microsoft.com oraclecloud.com oraclevcn.com digitalocean.com linode.com linodeusercontent.com vultr.com vultrusercontent.com
  hetzner.com hetzner.de your-server.de your-cloud.host clients.your-server.de ovh.net ovh.com ovh.ca kimsufi.com scaleway.com
  poneytelecom.eu online.net contabo.net contabo.host leaseweb.net leaseweb.com hostwindsdns.com hostgator.com bluehost.com
  godaddy.com secureserver.net dreamhost.com rackspace.com softlayer.com quadranet.com colocrossing.com choopa.net psychz.net
  datapacket.com m247.com m247.ro m247.com.au ionos.com 1and1.com kundenserver.de strato.de strato.com hosteurope.de
  serverprofi24.de netcup.net netcup.de ultrasrv.de gcore.com cdn77.com fastly.com akamai.com akamaitechnologies.com
  akamaiedge.net cloudflare.com zscaler.com zscaler.net zscalertwo.net mullvad.net nordvpn.com protonvpn.com torproject.org
  ipvanish.com expressvpn.com alibaba.com alibabadns.com aliyun.com tencent.com tencentcloud.com huaweicloud.com yandex.net
  comcast.net comcastbusiness.net verizon.net verizon.com vzwentp.com myvzw.com att.net sbcglobal.net bellsouth.net charter.com
  spectrum.com rr.com twcny.com cox.net coxfiber.net centurylink.net qwest.net frontiernet.net windstream.net optonline.net
  suddenlink.net mediacomcc.com mediacombb.net spcsdns.net sprint.com sprintlink.net tmodns.net t-mobile.com hughesnet.com
  starlinkisp.net starlink.com cableone.net wowway.com rcn.com rcncustomer.com earthlink.net level3.net lumen.com cogentco.com
  zayo.com he.net gtt.net ntt.net telia.net teliasonera.com arelion.net tele2.net telenor.net telenor.com bredband.net
  bredbandsbolaget.se comhem.se telia.com t-ipconnect.de t-dialin.net telekom.de dtag.de vodafone.de vodafone-ip.de
  kabel-deutschland.de unitymedia.de unity-media.net o2online.de telefonica.de versatel.de versanet.de 1und1.de ewetel.de
  netcologne.de m-online.net mnet-online.de a1.net aon.at chello.at upc.at magenta.at swisscom.ch swisscom.com bluewin.ch
  sunrise.ch hispeed.ch orange.fr orange.com wanadoo.fr proxad.net free.fr sfr.net bbox.fr bouyguestelecom.fr numericable.fr
  telefonica.es rima-tde.net ono.com orange.es jazztel.es vodafone.es telecomitalia.it business.telecomitalia.it
  fastwebnet.it wind.it tiscali.it vodafone.it libero.it ziggo.nl upc.nl kpn.net kpn.com xs4all.nl telfort.nl telenet.be
  skynet.be proximus.be btcentralplus.com bt.com btopenworld.com virginm.net virginmedia.com sky.com skybroadband.com
  talktalk.net talktalkplc.com plus.net plusnet.com zen.co.uk as13285.net ee.co.uk three.co.uk vodafone.co.uk eircom.net
  telecom.pt vodafone.pt nos.pt netcabo.pt rogers.com shaw.ca shawcable.net bell.ca sympatico.ca videotron.ca telus.net
  teksavvy.com bigpond.com bigpond.net.au telstra.net telstra.com optusnet.com.au tpgi.com.au iinet.net.au internode.on.net
  xtra.co.nz spark.co.nz ocn.ne.jp so-net.ne.jp plala.or.jp bbtec.net softbank.jp kddi.com dion.ne.jp nuro.jp asahi-net.or.jp
  kt.co.kr kornet.net hinet.net chinatelecom.com chinamobile.com chinaunicom.cn airtel.com airtelbroadband.in jio.com
  reliance.com bsnl.in tatacommunications.com vsnl.net.in virtua.com.br vivozap.com.br telesp.net.br gvt.net.br claro.net.br
  timbrasil.com.br telmex.com telmex.net.mx uninet-ide.com.mx cablevision.net.mx telecentro.net.ar fibertel.com.ar
  speedy.com.ar vtr.net movistar.cl turktelekom.com.tr ttnet.com.tr superonline.net mts.ru beeline.ru corbina.ru rt.ru
  rostelecom.ru dom.ru megafon.ru kyivstar.net ukrtel.net plus.pl orange.pl tpnet.pl neostrada.pl upc.com.pl vectranet.pl
  o2.cz t-mobile.cz upc.cz telekom.hu digikabel.hu rdsnet.ro rcs-rds.ro mtnbusiness.co.za telkomsa.net vodacom.co.za`
    .split(/\s+/)
    .filter((name) => name !== '')

const NETWORKS: ReadonlySet<string> = new Set(NETWORK_DOMAINS)

export const isNetwork = (domain: string): boolean => NETWORKS.has(domain)

/**
 * Parts of host names that internet and hosting providers generate. `vpn` and `proxy` are not listed, because companies
 * use them.
 */
const MADE_BY_MACHINE =
  /(^|[.-])(dyn|dynamic|dhcp|[avx]?dsl|ppp|pppoe|pools?|cable|ftth|broadband|dial|dialup|cust|customers?|clients?|residential|cgnat|vps|compute|rev|unassigned|hosted-by|colo|dedicated|tor-exit)\d*([.-]|$)/

/**
 * Returns true if a host name was generated for an address instead of named by its user: it contains the address or a
 * word that providers use.
 */
export function isMadeUp(name: string, domain: string, address: string): boolean {
  const own = name.slice(0, Math.max(0, name.length - domain.length - 1))
  if (MADE_BY_MACHINE.test(own)) return true
  const parts = address.includes(':')
    ? address.split(':').filter((part) => part.length > 1)
    : address.split('.')
  const tail = parts.slice(-2)
  return (
    tail.length === 2 && tail.every((part) => new RegExp(`(^|[^0-9a-z])0*${part}([^0-9a-z]|$)`).test(own))
  )
}
