import type { FactName } from '../facts.ts'

const YEAR = '((?:19|20)\\d\\d)'
const NUMBER = '(\\d{1,3}(?:[,. \u00a0]\\d{3})+|\\d+)'
const PERSON = "(\\p{Lu}[\\p{L}'-]+(?: \\p{Lu}[\\p{L}'-]+)+)"
const CITY = '(\\p{Lu}[\\p{L}-]+)'
const COMPANY = 'COMPANY'

/** The sentences that the scripted model understands. It knows nothing else of the world. */
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

/** The assumed year of pages without a date: such pages count as fairly new. */
const UNDATED = 2025
/** The first year that counts as recent. Older statements may have changed since. */
export const FRESH = 2024

/** Returns the fact of this company as the page states it. Ignores companies whose names only begin alike. */
export function findOn(page: PageSeen, company: string, fact: FactName): Found | null {
  const name = `${company.replace(/[.*+?^$()[\]{}|\\]/g, '\\$&')}(?! \\p{Lu})`
  const year = Number(/As of \p{L}+ (\d{4})/u.exec(page.text)?.[1] ?? UNDATED)
  const text = page.text.replace(/\s+/g, ' ')
  for (const rule of RULES[fact]) {
    const match = new RegExp(rule.replace(COMPANY, name), 'u').exec(text)
    const [quote, matched] = match ?? []
    if (quote === undefined || matched === undefined) continue
    const isNumber = fact === 'founded' || fact === 'employees'
    return { page, quote, value: isNumber ? Number(matched.replace(/\D/g, '')) : matched, year }
  }
  return null
}

/** Returns true if the statement is on a site that has the company's name. */
export function isOwnWord({ page }: Found, company: string): boolean {
  const name = company.toLowerCase().replaceAll(' ', '-')
  return URL.parse(page.url)?.hostname.startsWith(`${name}.`) ?? false
}

/** Chooses the best statement: the newest, then the company's own, then the one that most pages state. */
export function choose(found: readonly Found[], company: string): Found | undefined {
  const agreeing = ({ value }: Found) => found.filter((other) => other.value === value).length
  const rank = (one: Found) => (isOwnWord(one, company) ? 1 : 0)
  return found.toSorted(
    (one, other) => other.year - one.year || rank(other) - rank(one) || agreeing(other) - agreeing(one),
  )[0]
}

/** Returns the pages that a prompt or the result of a tool shows. */
export function pagesIn(text: string): PageSeen[] {
  const marked = text.matchAll(/<page number="(\d+)" url="([^"]*)" title="([^"]*)">\n([\s\S]*?)\n<\/page>/g)
  return [...marked].map(([, number = '', url = '', title = '', body = '']) => ({
    number: Number(number),
    url,
    title,
    text: body,
  }))
}
