/** A page of the world. `shown` is the text that people see, and quotes are checked against it. */
export type WorldPage = {
  type: string
  body: string | Uint8Array
  title: string
  shown: string
  /** Tells that the search engine knows the page. */
  indexed: boolean
}

/** Pages by `host/path`. */
export type WorldPages = Map<string, WorldPage>

export type PageParts = {
  title: string
  paragraphs: string[]
  links?: [text: string, href: string][]
  language?: string
  indexed?: boolean
  /** Markup that people do not see. */
  unseen?: string
}

export function htmlPage({
  title,
  paragraphs,
  links = [],
  language = 'en',
  indexed = true,
  unseen = '',
}: PageParts): WorldPage {
  const menu = links.map(([text, href]) => `<a href="${href}">${text}</a>`).join(' ')
  const text = paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n')
  return {
    type: 'text/html; charset=utf-8',
    body: `<!doctype html><html lang="${language}"><head><title>${title}</title></head><body><nav>${menu}</nav><main><h1>${title}</h1>${unseen}\n${text}</main></body></html>`,
    title,
    shown: [title, ...paragraphs].join('\n'),
    indexed,
  }
}

/** Returns invalid HTML: nothing is closed, tables are broken, and the encoding is old and not declared. */
export function brokenPage({ title, paragraphs }: PageParts): WorldPage {
  const rows = paragraphs.map((text) => `<tr><td><font size=2><b>${text}<td></i><p>`).join('\n')
  const html = `<title>${title}</title><body bgcolor=#eeeeee><center><h1>${title}<h2>\u00dcberblick &copy &amp&nbsp<table><table>${rows}</div></span><p>&bogus; Ende`
  return {
    type: 'text/html',
    body: Buffer.from(html, 'latin1'),
    title,
    shown: [title, ...paragraphs].join('\n'),
    indexed: true,
  }
}
