import type { Browser } from './browser/browser.ts'
import { type Fetching, fetchPage, type Page } from './page-fetch.ts'
import type { PageOptions, Part } from './page-tasks.ts'
import { readPage, type ReadPage } from './read-page.ts'
import { isSameSite } from './site.ts'
import { readSitemap } from './sitemap.ts'

/**
 * Returns a pattern for words in an address or a link. A space stands for any way to join two words. Scripts without
 * spaces have no ends of words.
 */
function words(spaced: string, unspaced = ''): RegExp {
  const joined = spaced.replaceAll(' ', '[-_ ]?')
  const whole = `(?<![\\p{L}\\p{N}])(?:${joined})(?![\\p{L}\\p{N}])`
  return new RegExp(unspaced === '' ? whole : `${whole}|${unspaced}`, 'iu')
}

/** The topics of pages, in the languages of many sites. */
export const TOPICS = {
  about: words(
    'about|about us|company|who we are|our story|über uns|ueber uns|unternehmen|a propos|à propos|qui sommes nous|chi siamo|' +
      'azienda|nosotros|quienes somos|quiénes somos|empresa|sobre|sobre nós|over ons|om oss|o nas|o kompanii|о компании',
    '会社概要|会社情報|关于我们|회사소개',
  ),
  imprint: words(
    'imprint|impressum|legal notice|mention legale|mentions légales|mentions legales|aviso legal|note legali|colophon',
    '特定商取引',
  ),
  contact: words(
    'contact|contact us|contacts|kontakt|contacto|contatti|contato|get in touch|nous contacter|контакты',
    'お問い合わせ|联系我们|문의',
  ),
  team: words('team|our team|people|leadership|management|founders|board|equipe|équipe|equipo'),
  pricing: words('pricing|prices|plans|preise|tarifs|precios|prezzi|tarife'),
  product: words('products?|services?|solutions?|features|platform|produkte?|leistungen|produits|servicios'),
  careers: words(
    'careers?|jobs?|join us|join our team|work with us|vacancies|openings|hiring|karriere|stellen|stellenangebote|' +
      'offene stellen|jobangebote|carrieres?|carrières?|recrutement|emplois?|empleos?|trabaja con nosotros|lavora con noi|' +
      'carreiras|vacatures|werken bij|вакансии',
    '採用|招聘|채용',
  ),
  news: words(
    'news|blog|press|newsroom|aktuelles|presse|actualites|actualités|noticias|notizie|nieuws|новости',
    'お知らせ|ニュース|新闻|뉴스',
  ),
} as const
export type Topic = keyof typeof TOPICS

type Candidate = { url: URL; text: string }

/**
 * Returns the pages of the same site about a topic, the most likely first: the address counts more than the text of the
 * link, and a shorter path comes first.
 */
export function pagesAbout(topic: Topic, document: ReadPage, listed: readonly URL[] = []): URL[] {
  return candidates(document, listed)
    .map((candidate) => ({ url: candidate.url, score: likeness(candidate, topic) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.url.pathname.length - b.url.pathname.length)
    .map(({ url }) => url)
}

/**
 * Returns the other pages of a site, the useful ones first: about the company, contact, imprint, team, prices, products.
 */
export function rankPages(document: ReadPage, listed: readonly URL[]): URL[] {
  const order: Topic[] = ['about', 'contact', 'imprint', 'team', 'pricing', 'product', 'careers', 'news']
  const first = order.flatMap((topic) =>
    pagesAbout(topic, document, listed).slice(0, topic === 'product' ? 5 : 2),
  )
  const others = candidates(document, listed)
    .map(({ url }) => url)
    .sort((a, b) => depthOf(a) - depthOf(b))
  const seen = new Set([document.url.href])
  return [...first, ...others].filter(({ href }) => !seen.has(href) && seen.add(href))
}

/** Reads pages one after another until there are `most` of them. Pages that cannot be read are skipped. */
export async function readPages<Name extends Part = never>(
  context: Fetching,
  urls: readonly URL[],
  { most, parts }: { most: number; parts: readonly Name[] },
  { browser = null, ...options }: PageOptions & { browser?: Browser | null } = {},
): Promise<ReadPage<Name>[]> {
  const documents: ReadPage<Name>[] = []
  const seen = new Set<string>()
  for (const { href } of urls.slice(0, most * 2 + 4)) {
    if (documents.length >= most || context.signal.aborted) break
    if (seen.has(href)) continue
    const result = await fetchPage(context, href)
    const isNew = result.ok && !seen.has(result.page.url)
    const sent = isNew ? await drawPage(context, result.page, browser) : null
    const read = sent === null ? null : await readPage(context, sent, parts, options)
    seen.add(href).add(result.ok ? result.page.url : href)
    if (read?.ok === true) documents.push(read.page)
  }
  return documents
}

/** Returns the page as a browser renders it, or as it was sent if there is no browser or rendering fails. */
async function drawPage(context: Fetching, page: Page, browser: Browser | null): Promise<Page> {
  const drawn = await browser?.draw(context, page.url)
  return drawn?.ok === true ? { ...page, text: drawn.html } : page
}

/** Returns the pages of the same site in the sitemap of the document's site. */
export async function listedPages(context: Fetching, document: ReadPage): Promise<URL[]> {
  const listed = await readSitemap(context, document.url.origin)
  return listed.filter((url) => isSameSite(url, document.url))
}

function candidates(document: ReadPage, listed: readonly URL[]): Candidate[] {
  const linked = document.links.filter(
    ({ url }) => isSameSite(url, document.url) && url.href !== document.url.href,
  )
  return [...linked, ...listed.map((url) => ({ url, text: '' }))].filter(({ url }) => !isFile(url))
}

const FILES =
  /\.(pdf|jpe?g|png|gif|svg|webp|zip|gz|mp[34]|webm|docx?|xlsx?|pptx?|csv|xml|json|ics|vcf|exe|dmg|apk)$/i

/** Returns true if an address is one of a file for other programs and not of a page. */
export const isFile = ({ pathname }: URL): boolean => FILES.test(pathname)

function likeness({ url, text }: Candidate, topic: Topic): number {
  const path = decodePath(url.pathname)
  const inPath = TOPICS[topic].test(path) ? 3 - Math.min(2, depthOf(url) - 1) : 0
  return inPath * 2 + (text.length < 60 && TOPICS[topic].test(text) ? 3 : 0)
}

export function depthOf(url: URL): number {
  return url.pathname.split('/').filter(Boolean).length + (url.search === '' ? 0 : 2)
}

export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    if (cause instanceof URIError) return path
    throw cause
  }
}
