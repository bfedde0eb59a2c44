import type { Site } from '../site-server.ts'

/** A German machine builder without structured data. Its identity is in its Impressum, as the law requires. */
export const german: Site = {
  '/': `<!DOCTYPE html><html lang="de-DE"><head><title>Willkommen – Müller Maschinenbau GmbH</title>
    <meta name="description" content="Maschinenbau und CNC-Fertigung aus Stuttgart."></head>
    <body><img class="site-logo" src="bilder/logo.png" alt="Müller Maschinenbau"><ul><li><a href="/unternehmen/ueber-uns">Über uns</a></li>
    <li><a href="/kontakt.html">Kontakt</a></li><li><a href="/impressum">Impressum</a></li><li><a href="/datenschutz">Datenschutz</a></li></ul>
    <h1>Präzision seit 1962</h1><p>Fertigung von Komponenten für die Industrie.</p></body></html>`,
  '/unternehmen/ueber-uns': `<html lang="de-DE"><head><title>Über uns</title></head><body><h1>Über uns</h1>
    <p>Das Unternehmen wurde 1962 gegründet und beschäftigt 85 Mitarbeiter.</p></body></html>`,
  '/kontakt.html': `<html lang="de-DE"><head><title>Kontakt</title></head><body><p>Tel. 0711 123456-0, Fax 0711 123456-99</p>
    <p>E-Mail: info (at) mueller-maschinenbau (punkt) example</p></body></html>`,
  '/impressum': `<html lang="de-DE"><head><title>Impressum</title></head><body><h1>Impressum</h1>
    <p>Angaben gemäß § 5 TMG</p><p>Müller Maschinenbau GmbH<br>Industriestraße 12a<br>70565 Stuttgart<br>Deutschland</p>
    <p>Geschäftsführer: Eva Müller<br>Registergericht: Amtsgericht Stuttgart, HRB 12345<br>USt-IdNr.: DE123456789</p>
    <p>Telefon: +49 (0) 711 123456-0</p></body></html>`,
}

/** A French bakery in microdata. */
export const bakery: Site = {
  '/': `<html lang="fr"><head><title>Boulangerie Lafarge, pain au levain à Lyon</title></head><body>
    <div itemscope itemtype="https://schema.org/Bakery"><h1 itemprop="name">Boulangerie Lafarge</h1>
    <img itemprop="logo" src="/logo.jpg" alt=""><p itemprop="description">Pain au levain depuis trois générations.</p>
    <div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"><span itemprop="streetAddress">8 rue Mercière</span>,
    <span itemprop="postalCode">69002</span> <span itemprop="addressLocality">Lyon</span>, <span itemprop="addressCountry">France</span></div>
    <a itemprop="telephone" href="tel:0478370001">04 78 37 00 01</a> <a itemprop="url" href="/">site</a>
    <time itemprop="foundingDate" datetime="1931">1931</time>
    <a itemprop="sameAs" href="https://www.instagram.com/boulangerielafarge/">Instagram</a></div>
    <div itemscope itemtype="https://schema.org/Review"><span itemprop="author" itemscope itemtype="https://schema.org/Person"><span itemprop="name">Marie</span></span></div>
    </body></html>`,
}

/** An American plumber: tables, capital letters, an address in plain text. */
export const plumber: Site = {
  '/': `<HTML><HEAD><TITLE>Joe's Plumbing</TITLE></HEAD><BODY><TABLE><TR><TD><FONT SIZE=5>JOE'S PLUMBING</FONT>
    <P>In business since 1987. Plumbing contractors and renovation for builders.<P>1420 Elm Street<BR>Springfield, IL 62704<BR>United States
    <P>Call (217) 555-0188 or write <A HREF=MAILTO:JOE@JOESPLUMBING.EXAMPLE>joe</A></TABLE></BODY></HTML>`,
}
