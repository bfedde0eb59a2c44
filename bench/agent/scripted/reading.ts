import type { FactName } from '../facts.ts'

const YEAR = '((?:19|20)\\d\\d)'
const NUMBER = '(\\d{1,3}(?:[,. \u00a0]\\d{3})+|\\d+)'
const PERSON = "(\\p{Lu}[\\p{L}'-]+(?: \\p{Lu}[\\p{L}'-]+)+)"
const CITY = '(\\p{Lu}[\\p{L}-]+)'
const COMPANY = 'COMPANY'

/** How the scripted model understands sentences. It knows nothing else of the world. */
const RULES: Record<FactName, string[]> = {
  founded: [
    `${COMPANY} was founded in ${YEAR}`,
    `${COMPANY} has been in business since ${YEAR}`,
    `${COMPANY} wurde im Jahr ${YEAR} gegründet`,
    `${COMPANY} a été fondée en ${YEAR}`,
    `${COMPANY} fue fundada en ${YEAR}`,
    `${COMPANY}の設立は${YEAR}年です`,
  ],
  founder: [
    `founder of ${COMPANY} is ${PERSON}`,
    `${COMPANY} was started by ${PERSON}`,
    `Gegründet wurde ${COMPANY} von ${PERSON}`,
    `${COMPANY} a été créée par ${PERSON}`,
    `${COMPANY} fue creada por ${PERSON}`,
    `${COMPANY}の創業者は${PERSON}です`,
  ],
  ceo: [
    `${PERSON} is the chief executive of ${COMPANY}`,
    `The CEO of ${COMPANY} is ${PERSON}`,
    `Die Geschäftsführung von ${COMPANY} liegt bei ${PERSON}`,
    `La direction générale de ${COMPANY} est assurée par ${PERSON}`,
    `La dirección general de ${COMPANY} está a cargo de ${PERSON}`,
    `${COMPANY}の代表取締役は${PERSON}です`,
  ],
  headquarters: [
    `headquarters of ${COMPANY} are in ${CITY}`,
    `${COMPANY} is based in ${CITY}`,
    `Der Hauptsitz von ${COMPANY} ist in ${CITY}`,
    `Le siège de ${COMPANY} se trouve à ${CITY}`,
    `La sede de ${COMPANY} está en ${CITY}`,
    `${COMPANY}の本社は${CITY}にあります`,
  ],
  employees: [
    `${NUMBER} people work at ${COMPANY}`,
    `${COMPANY} has ${NUMBER} employees`,
    `Bei ${COMPANY} arbeiten ${NUMBER} Menschen`,
    `${COMPANY} emploie ${NUMBER} personnes`,
    `${COMPANY} tiene ${NUMBER} empleados`,
    `${COMPANY}の従業員数は${NUMBER}名です`,
  ],
}

export type PageSeen = { number: number; url: string; title: string; text: string }
export type Found = { page: PageSeen; quote: string; value: string | number; year: number }

/** Pages that do not say when they were written are taken for fairly new. */
const UNDATED = 2025
/** Anything older may have changed since. */
export const FRESH = 2024

/** What a page says of a fact of this company; of one whose name only begins alike, nothing. */
export function findOn(page: PageSeen, company: string, fact: FactName): Found | null {
  const name = `${company.replace(/[.*+?^$()[\]{}|\\]/g, '\\$&')}(?! \\p{Lu})`
  const year = Number(/As of \p{L}+ (\d{4})/u.exec(page.text)?.[1] ?? UNDATED)
  const text = page.text.replace(/\s+/g, ' ')
  for (const rule of RULES[fact]) {
    const match = new RegExp(rule.replace(COMPANY, name), 'u').exec(text)
    const [quote, said] = match ?? []
    if (quote === undefined || said === undefined) continue
    const isNumber = fact === 'founded' || fact === 'employees'
    return { page, quote, value: isNumber ? Number(said.replace(/\D/g, '')) : said, year }
  }
  return null
}

/** Said on a site that is called as the company is. */
export function isOwnWord({ page }: Found, company: string): boolean {
  const name = company.toLowerCase().replaceAll(' ', '-')
  return URL.parse(page.url)?.hostname.startsWith(`${name}.`) ?? false
}

/** The best of what pages say: the newest, of those the company's own word, then what most say. */
export function choose(found: readonly Found[], company: string): Found | undefined {
  const agreeing = ({ value }: Found) => found.filter((other) => other.value === value).length
  const rank = (one: Found) => (isOwnWord(one, company) ? 1 : 0)
  return found.toSorted(
    (one, other) => other.year - one.year || rank(other) - rank(one) || agreeing(other) - agreeing(one),
  )[0]
}

/** The pages that a prompt or the answer of a tool shows. */
export function pagesIn(text: string): PageSeen[] {
  const marked = text.matchAll(/<page number="(\d+)" url="([^"]*)" title="([^"]*)">\n([\s\S]*?)\n<\/page>/g)
  return [...marked].map(([, number = '', url = '', title = '', body = '']) => ({
    number: Number(number),
    url,
    title,
    text: body,
  }))
}
