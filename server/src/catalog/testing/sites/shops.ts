import type { Site } from '../site-server.ts'

export const shop: Site = {
  '/': {
    headers: {
      'x-shopify-stage': 'production',
      server: 'cloudflare',
      'cf-ray': '8a1b2c3d4e5f-FRA',
      'set-cookie': ['_shopify_y=abc; path=/', '__cf_bm=secret-value; HttpOnly'],
    },
    body: `<!doctype html><html lang="en-GB"><head><title>Fern &amp; Fable – plants, delivered</title>
      <link rel="preconnect" href="https://fonts.gstatic.com"><link rel="stylesheet" href="//cdn.shopify.com/s/files/1/0001/t/2/assets/theme.css">
      <script src="https://www.googletagmanager.com/gtm.js?id=GTM-AAAA"></script>
      <script async src="https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=XyZ"></script>
      <script src="https://js.stripe.com/v3/"></script><script src="https://static.hotjar.com/c/hotjar-1.js"></script>
      <script src="https://consent.cookiebot.com/uc.js"></script><script>!function(){fbq('init','1')}()</script>
      <script src="https://widget.intercom.io/widget/abcd"></script>
      <script type="application/ld+json">{"@context":"http://schema.org","@type":"Product","name":"Monstera","brand":{"@type":"Brand","name":"Fern & Fable"},"offers":{"@type":"Offer","price":"29.00"}}</script>
      <script type="application/ld+json">{"@context":"http://schema.org","@type":"OnlineStore","name":"Fern & Fable","url":"ORIGIN","email":"care@fernfable.example"}</script>
      </head><body><h1>Plants, delivered</h1><p>Add to cart, checkout, free delivery.</p></body></html>`,
  },
}

export const blog: Site = {
  '/': {
    headers: {
      server: 'nginx/1.24.0',
      'x-powered-by': 'PHP/8.2',
      link: '<ORIGIN/wp-json/>; rel="https://api.w.org/"',
    },
    body: `<!DOCTYPE html><html lang="en"><head><title>Harbour Notes</title><meta name="generator" content="WordPress 6.5.2">
      <link rel="alternate" type="application/rss+xml" title="Harbour Notes" href="/feed/">
      <link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed/">
      <link rel="stylesheet" href="/wp-content/plugins/elementor/assets/css/frontend.min.css">
      <script src="/wp-includes/js/jquery/jquery.min.js"></script><script defer data-domain="harbour.example" src="https://plausible.io/js/script.js"></script></head>
      <body><h1>Harbour Notes</h1><p>News of our ships.</p></body></html>`,
  },
  '/feed/': {
    type: 'application/rss+xml; charset=UTF-8',
    body: `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
      <title>Harbour Notes</title><link>ORIGIN</link>
      <item><title>A new ship &amp; crew</title><link>ORIGIN/2026/11/new-ship/?utm_source=rss</link><pubDate>Tue, 10 Nov 2026 08:00:00 +0000</pubDate>
        <description><![CDATA[<p>We bought a <b>ship</b>.</p><img src="x.png">]]></description></item>
      <item><title>A new ship &amp; crew</title><link>ORIGIN/2026/11/new-ship/</link><pubDate>Tue, 10 Nov 2026 08:00:00 +0000</pubDate></item>
      <item><title>Old story</title><link>ORIGIN/2020/old/</link><pubDate>Wed, 01 Jan 2020 08:00:00 +0000</pubDate></item>
      <item><title>Undated</title><link>ORIGIN/undated/</link></item>
      <item><title>Bad link</title><link>javascript:alert(1)</link><pubDate>Tue, 10 Nov 2026 08:00:00 +0000</pubDate></item>
      </channel></rss>`,
  },
  '/2026/11/new-ship/': `<!DOCTYPE html><html lang="en"><head><title>A new ship &amp; crew – Harbour Notes</title></head><body>
    <header><nav><a href="/">Home</a><a href="/archive">Archive</a></nav></header><article><h1>A new ship &amp; crew</h1>
    ${'<p>She is called <i>Petrel</i>, she was built in Gdańsk, and she will carry grain, timber and the occasional piano between eleven ports of the Baltic, as her older sisters did before her.</p>'.repeat(8)}
    <blockquote>“A good ship.”</blockquote><p>See <a href="../../../fleet">the fleet</a>.</p></article>
    <aside><h2>Related</h2><a href="/x">Sponsored link</a></aside><footer>All rights reserved</footer></body></html>`,
}

export const atomBlog: Site = {
  '/': `<html><head><title>Delta</title></head><body><a href="/newsroom">Newsroom</a></body></html>`,
  '/newsroom': `<html><head><title>Newsroom</title><link rel="alternate" type="application/atom+xml" href="/news.atom"></head><body></body></html>`,
  '/news.atom': {
    type: 'application/atom+xml',
    body: `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Delta News</title>
      <entry><title type="html">Delta &lt;b&gt;opens&lt;/b&gt; in Oslo</title><link rel="edit" href="/edit/1"/><link href="/news/oslo"/><updated>2026-11-12T09:30:00Z</updated><summary>An office.</summary></entry></feed>`,
  },
}

export const spa: Site = {
  '/': `<!doctype html><html><head><meta charset="utf-8"><title>Orbit</title><meta name="description" content="Plan your week."></head>
    <body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/_next/static/chunks/main.js"></script></body></html>`,
}
