import { loadReaders } from '../built-in/web/article.ts'
import { readDocument, type SentPage, type WebDocument } from '../built-in/web/document.ts'
import { toMarkdown } from '../built-in/web/markdown.ts'

// Loads the libraries now: the time limit of a document starts when this module is loaded.
await Promise.all([loadReaders(), import('cheerio')])

export type PageText = { title: string | null; text: string; links: { url: string; text: string }[] }

/** Returns the text that people see on a page, as Markdown, and the links on the page. */
async function readPageText(
  page: SentPage,
): Promise<{ ok: true; value: PageText } | { ok: false; message: string }> {
  const read = await readDocument(page)
  if (!read.ok) return read
  const { document } = read
  removeHidden(document)
  const shown = await readDocument({ ...page, text: document.$.html() })
  if (!shown.ok) return shown
  return {
    ok: true,
    value: {
      title: shown.document.title === null ? null : withoutInvisible(shown.document.title),
      text: withoutInvisible(await toMarkdown(shown.document)),
      links: shown.document.links.map(({ url, text }) => ({ url: url.href, text: withoutInvisible(text) })),
    },
  }
}

const HIDDEN =
  '[hidden], [aria-hidden="true"], [aria-hidden=""], template, noscript, script, style, input[type="hidden"], [class~="sr-only"], [class~="visually-hidden"]'
/** Matches styles that hide text from people. Hidden text is meant for programs and is not part of the page. */
const UNSEEN =
  /display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0?\.?0+\s*(;|$)|text-indent\s*:\s*-\d{3,}|(left|top|right|bottom)\s*:\s*-\d{3,}|clip(-path)?\s*:\s*(rect\(0|inset\(100|inset\(50)|(max-)?(height|width)\s*:\s*0(px)?\s*(;|$)|transform\s*:\s*scale\(0/i
const TINY = /font-size\s*:\s*(0|0?\.\d+|[12])(px|pt|em|rem|%)?\s*(;|!|$)/i

function removeHidden({ $ }: WebDocument): void {
  $(HIDDEN).remove()
  $('[style]')
    .filter((_, element) => {
      const style = $(element).attr('style') ?? ''
      return UNSEEN.test(style) || TINY.test(style) || isCamouflaged(style)
    })
    .remove()
}

/** Returns true if the text has the colour of its background. */
function isCamouflaged(style: string): boolean {
  const colour = /(?:^|;)\s*color\s*:\s*([^;]+)/i.exec(style)?.[1]?.trim().toLowerCase()
  const ground = /background(?:-color)?\s*:\s*([^;]+)/i.exec(style)?.[1]?.trim().toLowerCase()
  if (colour === undefined) return false
  return colour === 'transparent' || colour === ground || (ground === undefined && WHITE.test(colour))
}
const WHITE = /^(white|#fff|#ffffff|rgba?\(255, ?255, ?255(, ?[\d.]+)?\)|rgba\([^)]*, ?0\))$/

/** Removes invisible characters: zero width, direction marks, and the tag characters that hide text in plain text. */
function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu, '')
}

type Asked = Omit<SentPage, 'text'>
export const tasks = { text: (text: string, page: Asked) => readPageText({ ...page, text }) }
