/**
 * The best-known domains that give anybody a mailbox for minutes. There are many more. Addresses on their subdomains
 * count too.
 */
const DOMAINS = `
0-mail.com 0815.ru 0clickemail.com 10mail.org 10minutemail.co.uk 10minutemail.com 10minutemail.de
10minutemail.net 10minutesmail.com 10minutemail.us 1secmail.com 1secmail.net 1secmail.org 20email.eu
20mail.it 20minutemail.com 2prong.com 30minutemail.com 33mail.com 3d-painting.com 4warding.com 5mail.cf
60minutemail.com 675hosting.com 6paq.com 7tags.com 9ox.net a-bc.net ag.us.to akapost.com alivance.com
amilegit.com anonbox.net anonmails.de anonymbox.com antichef.com antispam.de armyspy.com asdasd.ru azmeil.tk
baxomale.ht.cx beefmilk.com binkmail.com bio-muesli.net bobmail.info bofthew.com bootybay.de boun.cr
bouncr.com boxformail.in breakthru.com brefmail.com brennendesreich.de broadbandninja.com bsnow.net
bspamfree.org bugmenot.com bumpymail.com burnermail.io burstmail.info byom.de casualdx.com centermail.com
chammy.info chogmail.com choicemail1.com clrmail.com cool.fr.nf correo.blogos.net cosmorph.com
courriel.fr.nf courrieltemporaire.com crapmail.org crazymailing.com cubiclink.com curryworld.de cuvox.de
dacoolest.com dandikmail.com dayrep.com dcemail.com deadaddress.com deadspam.com deagot.com despam.it
despammed.com devnullmail.com dfgh.net digitalsanctuary.com discard.email discardmail.com discardmail.de
dispomail.eu disposableaddress.com disposableemailaddresses.com disposableinbox.com disposable-email.ml
dispose.it disposeamail.com disposemail.com dispostable.com dm.w3internet.co.uk dodgeit.com dodgit.com
donemail.ru dontreg.com dontsendmespam.de drdrb.com dropmail.me dump-email.info dumpandjunk.com dumpmail.de
dumpyemail.com e4ward.com easytrashmail.com einmalmail.de einrot.com eintagsmail.de email-fake.com
email60.com emaildienst.de emailfake.com emailigo.de emailinfive.com emailisvalid.com emaillime.com
emailmiser.com emailnax.com emailondeck.com emailsensei.com emailtemporanea.com emailtemporar.ro
emailtemporario.com.br emailthe.net emailtmp.com emailto.de emailwarden.com emailx.at.hm emailxfer.com
emeil.in emeil.ir emkei.cf emz.net ephemail.net ero-tube.org evopo.com explodemail.com eyepaste.com ez.lv
fakeinbox.com fakeinformation.com fakemail.fr fakemail.net fakemailgenerator.com fammix.com fansworldwide.de
fantasymail.de fastacura.com fastmazda.com filzmail.com fizmail.com flyspam.com fr33mail.info freundin.ru
front14.org fudgerub.com fux0ringduh.com garliclife.com gelitik.in get1mail.com get2mail.fr getairmail.com
getmails.eu getnada.com getonemail.com ghosttexter.de girlsundertheinfluence.com gishpuppy.com
gowikibooks.com grandmamail.com great-host.in greensloth.com grr.la gsrv.co.uk guerillamail.biz
guerillamail.com guerillamail.net guerillamail.org guerrillamail.biz guerrillamail.com guerrillamail.de
guerrillamail.info guerrillamail.net guerrillamail.org guerrillamailblock.com gustr.com h.mintemail.com
haltospam.com harakirimail.com hatespam.org herp.in hidemail.de hidzz.com hmamail.com hochsitze.com
hotpop.com hulapla.de ieatspam.eu ieatspam.info ihateyoualot.info iheartspam.org imails.info inbax.tk
inboxalias.com inboxbear.com inboxclean.com inboxkitten.com incognitomail.com incognitomail.net
incognitomail.org insorg-mail.info instant-mail.de ipoo.org irish2me.com jetable.com jetable.fr.nf
jetable.net jetable.org jnxjn.com jourrapide.com jsrsolutions.com kasmail.com kaspop.com killmail.com
killmail.net klassmaster.com klzlk.com koszmail.pl kulturbetrieb.info kurzepost.de letthemeatspam.com
lhsdv.com lifebyfood.com link2mail.net litedrop.com lol.ovpn.to lookugly.com lortemail.dk lovemeleaveme.com
lr78.com luxusmail.org m4ilweb.info maboard.com mail-temp.com mail-temporaire.fr mail.mezimages.net mail.tm
mail114.net mail1a.de mail21.cc mail2rss.org mail4trash.com mailbidon.com mailbiz.biz mailblocks.com
mailbucket.org mailcat.biz mailcatch.com maildax.me maildrop.cc maildu.de maildx.com maileater.com mailed.ro
maileimer.de mailexpire.com mailfa.tk mailforspam.com mailfree.ga mailfreeonline.com mailfs.com mailguard.me
mailhazard.com mailimate.com mailin8r.com mailinater.com mailinator.com mailinator.net mailinator.org
mailinator2.com mailincubator.com mailismagic.com mailme.ir mailme.lv mailme24.com mailmetrash.com
mailmoat.com mailmoth.com mailna.me mailnator.com mailnesia.com mailnull.com mailpick.biz mailpoof.com
mailproxsy.com mailquack.com mailrock.biz mailsac.com mailscrap.com mailshell.com mailsiphon.com
mailslapping.com mailslite.com mailtemp.info mailtemporaire.com mailtothis.com mailtrash.net mailtv.net
mailtv.tv mailzilla.com mailzilla.org makemetheking.com manybrain.com mbx.cc mega.zik.dj meinspamschutz.de
meltmail.com messagebeamer.de mierdamail.com minuteinbox.com mintemail.com mjukglass.nu moakt.com moakt.cc
moburl.com mohmal.com moncourrier.fr.nf monemail.fr.nf monmail.fr.nf monumentmail.com mt2009.com mt2014.com
mvrht.com mycleaninbox.net mymail-in.net mypartyclip.de myphantomemail.com mysamp.de mytemp.email
mytempemail.com mytempmail.com mytrashmail.com nabuma.com nepwk.com nervmich.net nervtmich.net netmails.com
netmails.net neverbox.com nice-4u.com nincsmail.hu nnh.com no-spam.ws nobulk.com noclickemail.com
nogmailspam.info nomail.xl.cx nomail2me.com nomorespamemails.com nospam.ze.tc nospam4.us nospamfor.us
nospammail.net notmailinator.com nowmymail.com nurfuerspam.de objectmail.com obobbo.com odnorazovoe.ru
oneoffemail.com onewaymail.com onlatedotcom.info oopi.org ordinaryamerican.net otherinbox.com ovpn.to
owlpic.com pancakemail.com pjjkp.com plexolan.de politikerclub.de poofy.org pookmail.com privatdemail.net
privy-mail.com privymail.de proxymail.eu prtnx.com putthisinyourspamdatabase.com pwrby.com quickinbox.com
rcpt.at reallymymail.com recode.me recursor.net regbypass.com rejectmail.com rhyta.com rklips.com rmqkr.net
rppkn.com rtrtr.com s0ny.net safersignup.de safetymail.info safetypost.de sandelf.de saynotospams.com
schafmail.de selfdestructingmail.com sendspamhere.com sharedmailbox.org sharklasers.com shieldemail.com
shiftmail.com shitmail.me shitware.nl shmeriously.com shortmail.net skeefmail.com slaskpost.se slopsbox.com
smapfree24.com smashmail.de smellfear.com snakemail.com sneakemail.com sneakmail.de snkmail.com sofimail.com
sofort-mail.de sogetthis.com soodonims.com spam.la spam.su spam4.me spamail.de spambob.com spambog.com
spambog.de spambog.ru spambox.us spamcannon.com spamcero.com spamcon.org spamcorptastic.com spamcowboy.com
spamday.com spamex.com spamfree24.com spamfree24.de spamfree24.org spamgourmet.com spamgourmet.net
spamherelots.com spamhereplease.com spamhole.com spamify.com spaml.de spammotel.com spamobox.com spamoff.de
spamslicer.com spamspot.com spamthis.co.uk spamtrail.com speed.1s.fr spikio.com spoofmail.de stuffmail.de
super-auswahl.de supergreatmail.com supermailer.jp superrito.com suremail.info talkinator.com teewars.org
teleworm.com teleworm.us temp-mail.de temp-mail.io temp-mail.org temp-mail.ru tempail.com tempalias.com
tempe-mail.com tempemail.biz tempemail.co tempemail.com tempemail.net tempinbox.co.uk tempinbox.com
tempmail.de tempmail.dev tempmail.eu tempmail.it tempmail.net tempmail.plus tempmail2.com
tempmailaddress.com tempmailer.com tempmailer.de tempmailo.com tempomail.fr temporarily.de
temporarioemail.com.br temporaryemail.net temporaryforwarding.com temporaryinbox.com tempr.email tempthe.net
tempymail.com thanksnospam.info thankyou2010.com thisisnotmyrealemail.com throwam.com
throwawayemailaddress.com throwawaymail.com tilien.com tittbit.in tmail.ws tmailinator.com tmpmail.net
tmpmail.org toiea.com toomail.biz tradermail.info trash-amil.com trash-mail.at trash-mail.com trash-mail.de
trash2009.com trashdevil.com trashemail.de trashmail.at trashmail.com trashmail.de trashmail.me
trashmail.net trashmail.org trashmail.ws trashmailer.com trashymail.com trbvm.com trialmail.de
trillianpro.com tyldd.com uggsrock.com upliftnow.com uplipht.com venompen.com veryrealemail.com viditag.com
viralplays.com vomoto.com vpn.st vsimcard.com wegwerf-email.de wegwerfadresse.de wegwerfemail.com
wegwerfemail.de wegwerfmail.de wegwerfmail.info wegwerfmail.net wegwerfmail.org wh4f.org whyspam.me
willhackforfood.biz willselfdestruct.com winemaven.info wronghead.com wuzupmail.net xagloo.com xemaps.com
xents.com xmaily.com xoxy.net yapped.net yep.it yogamaven.com yopmail.com yopmail.fr yopmail.net yopmail.gq
you-spam.com yuurok.com zehnminuten.de zehnminutenmail.de zippymail.info zoaxe.com zoemail.org zomg.info`

const disposable: ReadonlySet<string> = new Set(DOMAINS.trim().split(/\s+/))

export function isDisposable(domain: string): boolean {
  const labels = domain.toLowerCase().split('.')
  return labels.some((_, at) => at < labels.length - 1 && disposable.has(labels.slice(at).join('.')))
}
