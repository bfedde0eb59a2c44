import type { AgentField } from '#server/catalog/agent/task.ts'

/** The facts about companies that the questions ask for. */
export type Facts = {
  founded: number
  founder: string
  ceo: string
  headquarters: string
  employees: number
}
export type FactName = keyof Facts
export const FACT_NAMES = ['founded', 'founder', 'ceo', 'headquarters', 'employees'] as const

export const FACT_FIELDS: Record<FactName, AgentField> = {
  founded: { name: 'founded', type: 'integer', description: 'The year in which the company was founded.' },
  founder: { name: 'founder', type: 'string', description: 'Full name of the person who founded it.' },
  ceo: { name: 'ceo', type: 'string', description: 'Full name of its chief executive today.' },
  headquarters: { name: 'headquarters', type: 'string', description: 'The city of its headquarters.' },
  employees: { name: 'employees', type: 'integer', description: 'How many people it employs today.' },
}

export type Company = {
  name: string
  /** The business of the company and its place, which tell companies with similar names apart. */
  trade: string
  host: string
  facts: Facts
  /** The facts that no page states. */
  missing: ReadonlySet<FactName>
}

const STEMS =
  'Norvik Talven Brisko Halden Quarle Ostrey Velmar Zentro Kalbrix Merrow Tindal Arvona Pelgro Sundry Corvane Lumeth Draxel Fenwood Ilmari Jorvik Marnex Ottira Ravello Skarn Ulmeda Wexley Yarrin Bexon'.split(
    ' ',
  )
const TRADES: [word: string, trade: string][] = [
  ['Optics', 'a maker of lenses'],
  ['Robotics', 'a maker of industrial robots'],
  ['Foods', 'a producer of frozen food'],
  ['Logistics', 'a carrier of freight'],
  ['Biotech', 'a maker of laboratory enzymes'],
  ['Textiles', 'a weaver of technical fabrics'],
  ['Energy', 'an operator of wind parks'],
]
const FIRST = 'Jana Milo Greta Anton Livia Oskar Petra Ruben Selma Viktor Wanda Yusuf Nadia Emil'.split(' ')
const LAST =
  'Holmberg Castell Dvorak Eklund Farkas Grimaldi Hansson Ibarra Jansen Kovacs Lindqvist Moreau'.split(' ')
const CITIES = 'Graz Porto Malmo Gdansk Bilbao Bergen Lyon Trieste Ghent Utrecht Dresden Tampere'.split(' ')

/** Invents a company with random facts. `n` makes its name unique. */
export function inventCompany(random: () => number, n: number): Company {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const person = () => `${pick(FIRST)} ${pick(LAST)}`
  const stem = STEMS[n % STEMS.length] ?? ''
  const [word, trade] = pick(TRADES)
  const founder = person()
  const others = Array.from({ length: 8 }, person)
  return {
    name: `${stem} ${word}`,
    trade,
    host: `${stem}-${word}.example`.toLowerCase(),
    facts: {
      founded: 1950 + Math.floor(random() * 68),
      founder,
      ceo: others.find((name) => name !== founder) ?? founder,
      headquarters: pick(CITIES),
      employees: 40 + Math.floor(random() * 4900),
    },
    missing: new Set([pick(FACT_NAMES)]),
  }
}

/** Returns the same company with other facts, for pages that are outdated, wrong or about another company. */
export function contradict(company: Company, random: () => number): Company {
  for (let n = 0; ; n += 1) {
    const { facts } = inventCompany(random, n)
    const isOther = FACT_NAMES.every((name) => facts[name] !== company.facts[name])
    if (isOther) return { ...company, facts }
  }
}
