import { parse } from 'tldts'

/** The mail providers, by the end of the mail server's name. */
const PROVIDERS: Record<string, string> = {
  'google.com': 'Google Workspace',
  'googlemail.com': 'Google Workspace',
  'psmtp.com': 'Google Workspace',
  'outlook.com': 'Microsoft 365',
  'mx.microsoft': 'Microsoft 365',
  'hotmail.com': 'Microsoft 365',
  'zoho.com': 'Zoho Mail',
  'zoho.eu': 'Zoho Mail',
  'zoho.in': 'Zoho Mail',
  'zohomail.com': 'Zoho Mail',
  'protonmail.ch': 'Proton Mail',
  'messagingengine.com': 'Fastmail',
  'icloud.com': 'iCloud Mail',
  'yandex.net': 'Yandex 360',
  'yandex.ru': 'Yandex 360',
  'mail.ru': 'Mail.ru',
  'mimecast.com': 'Mimecast',
  'mimecast.co.za': 'Mimecast',
  'pphosted.com': 'Proofpoint',
  'ppe-hosted.com': 'Proofpoint',
  'gpphosted.com': 'Proofpoint',
  'barracudanetworks.com': 'Barracuda',
  'messagelabs.com': 'Symantec Email Security',
  'iphmx.com': 'Cisco Secure Email',
  'trendmicro.com': 'Trend Micro',
  'trendmicro.eu': 'Trend Micro',
  'sophos.com': 'Sophos Email',
  'hornetsecurity.com': 'Hornetsecurity',
  'antispameurope.com': 'Hornetsecurity',
  'retarus.com': 'Retarus',
  'mailspamprotection.com': 'SiteGround',
  'awsapps.com': 'Amazon WorkMail',
  'amazonaws.com': 'Amazon SES',
  'emailsrvr.com': 'Rackspace Email',
  'secureserver.net': 'GoDaddy',
  'privateemail.com': 'Namecheap',
  'registrar-servers.com': 'Namecheap',
  'kundenserver.de': 'IONOS',
  'ionos.com': 'IONOS',
  'ionos.de': 'IONOS',
  '1and1.com': 'IONOS',
  'rzone.de': 'STRATO',
  'ovh.net': 'OVH',
  'gandi.net': 'Gandi',
  'hostinger.com': 'Hostinger',
  'titan.email': 'Titan',
  'dreamhost.com': 'DreamHost',
  'mailbox.org': 'mailbox.org',
  'migadu.com': 'Migadu',
  'tutanota.de': 'Tuta',
  'qq.com': 'Tencent Exmail',
  'mxhichina.com': 'Alibaba Mail',
  'worksmobile.com': 'LINE WORKS',
  'mailgun.org': 'Mailgun',
  'sendgrid.net': 'SendGrid',
  'cloudflare.net': 'Cloudflare Email Routing',
  'improvmx.com': 'ImprovMX',
  'forwardemail.net': 'Forward Email',
  'zendesk.com': 'Zendesk',
  'one.com': 'one.com',
  'infomaniak.ch': 'Infomaniak',
  'all-inkl.com': 'ALL-INKL',
  'kasserver.com': 'ALL-INKL',
  'hetzner.com': 'Hetzner',
  'your-server.de': 'Hetzner',
}

/** Returns the name of a known provider, "self-hosted" for a server of the domain itself, or the server's domain. */
export function findMailProvider(exchange: string, domain: string): string | null {
  const host = exchange.toLowerCase().replace(/\.$/, '')
  // RFC 7505: a single dot means that the domain accepts no mail.
  if (host === '') return null
  const labels = host.split('.')
  const known = labels
    .map((_, at) => PROVIDERS[labels.slice(at).join('.')])
    .find((name) => name !== undefined)
  if (known !== undefined) return known
  return host === domain || host.endsWith(`.${domain}`) ? 'self-hosted' : (parse(host).domain ?? host)
}
