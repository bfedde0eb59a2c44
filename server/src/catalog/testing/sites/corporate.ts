import type { Site } from '../site-server.ts'

const nav = `<nav><a href="/">Home</a> <a href="/product">Product</a> <a href="/pricing">Pricing</a>
  <a href="/about-us">About us</a> <a href="/contact?from=nav">Contact</a> <a href="/careers">Careers</a> <a href="/brochure.pdf">Brochure</a></nav>`
const footer = `<footer><p>© 2026 Northwind Robotics Inc.</p>
  <a href="https://www.linkedin.com/company/northwind-robotics/?trk=nav"><svg></svg></a>
  <a href="https://twitter.com/northwindbots">X</a>
  <a href="https://www.facebook.com/sharer/sharer.php?u=https://northwind.example">Share</a>
  <a href="https://twitter.com/intent/tweet?text=hi">Tweet</a>
  <a href="https://github.com/northwind-robotics">Code</a></footer>`

/** A software company whose pages have everything: a graph of JSON-LD, OpenGraph, a contact page behind Cloudflare. */
export const corporate: Site = {
  '/robots.txt': {
    type: 'text/plain',
    body: 'User-agent: *\nDisallow: /admin\nSitemap: ORIGIN/sitemap.xml\n',
  },
  '/': `<!doctype html><html lang="en-US"><head><meta charset="utf-8">
    <title>Warehouse robots that work | Northwind Robotics</title>
    <meta name="description" content="Northwind builds software and robots for warehouses.">
    <meta property="og:site_name" content="Northwind">
    <meta property="og:image" content="/img/share.png">
    <script type="application/ld+json">{"@context":"https://schema.org","@graph":[
      {"@type":"WebSite","@id":"ORIGIN/#website","url":"ORIGIN/","name":"Northwind Robotics","publisher":{"@id":"ORIGIN/#org"}},
      {"@type":["Organization","Brand"],"@id":"ORIGIN/#org","name":"Northwind Robotics","legalName":"Northwind Robotics Inc.",
       "url":"ORIGIN/","logo":{"@type":"ImageObject","url":"ORIGIN/img/logo.svg"},"foundingDate":"2014-03-01",
       "description":"Robots and software for warehouses.",
       "address":{"@type":"PostalAddress","streetAddress":"500 Howard Street","addressLocality":"San Francisco","addressRegion":"CA","postalCode":"94105","addressCountry":"US"},
       "contactPoint":[{"@type":"ContactPoint","telephone":"+1-415-555-0132","contactType":"sales","email":"sales@northwind.example"}],
       "sameAs":["https://www.linkedin.com/company/northwind-robotics","https://www.crunchbase.com/organization/northwind-robotics"]},
      {"@type":"BreadcrumbList","itemListElement":[]}]}</script></head>
    <body>${nav}<main><h1>Robots that <em>work</em></h1>
      <p>Our platform moves 3,000,000 boxes a day. See <a href="product#how">how it works</a> or call <a href="tel:+14155550132">+1 (415) 555-0132</a>.
      Teams in twelve countries use it to pack faster, to make fewer mistakes and to spend the day on better things than walking.</p>
      <img src="/img/logo@2x.png" alt="Northwind logo"><p>Questions? <a href="mailto:Hello@Northwind.example?subject=Hi">Write to us</a>.</p>
      <script>var contact = "tracker@ads.example"</script></main>${footer}</body></html>`,
  '/about-us': `<html lang="en"><head><title>About | Northwind Robotics</title></head><body>${nav}<main>
    <h1>About us</h1><p>Founded in 2014 by two engineers, we are 240 people today.</p><p>Press: press@northwind.example</p></main>${footer}</body></html>`,
  '/contact?from=nav': `<html lang="en"><head><title>Contact</title></head><body>${nav}<main><h1>Contact</h1>
    <p>Mail <a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="1a696f6a6a75686e5a7475686e726d73747e347f627b776a767f">[email&#160;protected]</a></p>
    <p>Billing: accounts [at] northwind [dot] example, jobs(at)northwind.example</p>
    <address>Northwind Robotics Inc.<br>500 Howard Street<br>San Francisco, CA 94105</address>
    <p>Europe: +49 30 901820</p></main>${footer}</body></html>`,
  '/pricing': `<html><head><title>Pricing</title></head><body>${nav}<main><h1>Pricing</h1><p>Three plans for warehouses of every size, billed by the year, with support included.</p>
    <table><thead><tr><th>Plan</th><th>Price</th></tr></thead><tbody><tr><td>Start</td><td>$99</td></tr><tr><td>Scale</td><td>$499</td></tr></tbody></table></main>${footer}</body></html>`,
  '/product': `<html><head><title>Product</title></head><body>${nav}<main><h1>Product</h1><p>Robots.</p></main></body></html>`,
  '/hidden-gem': `<html><head><title>Only in the sitemap</title></head><body><p>Nobody links here.</p></body></html>`,
  '/sitemap.xml': {
    type: 'application/xml',
    body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc>ORIGIN/</loc></url><url><loc>ORIGIN/about-us</loc></url><url><loc>ORIGIN/hidden-gem</loc></url>
      <url><loc>https://elsewhere.example/about</loc></url></urlset>`,
  },
  '/brochure.pdf': { type: 'application/pdf', body: '%PDF-1.7' },
}
