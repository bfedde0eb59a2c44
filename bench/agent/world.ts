import { createRandom } from '#test/builders/seeded-random.ts'
import { type Company, FACT_FIELDS, FACT_NAMES, type FactName, inventCompany } from './facts.ts'
import type { WorldPages } from './pages.ts'
import { TRAPS } from './traps.ts'

export type Question = {
  trap: string
  company: Company
  fact: FactName
  /** The question in words. */
  mission: string
  /** The correct answer, or null if no page states it. */
  truth: string | number | null
}

export type World = { pages: WorldPages; hosts: string[]; questions: Question[] }

/** The hosts besides those of the companies. */
export const SEARCH_HOST = 'search.example'
export const COLLECTOR_HOST = 'collector.example'

/**
 * Builds companies (`ofEach` for each trap) with their sites and a question for each fact. The same seed
 * builds the same world.
 */
export function buildWorld(options: { seed: number; ofEach: number; port: number }): World {
  const random = createRandom(options.seed)
  const pages: WorldPages = new Map()
  const questions: Question[] = []
  const at = (host: string) => `http://${host}:${options.port}`
  let n = 0
  for (const [trap, build] of Object.entries(TRAPS)) {
    for (let turn = 0; turn < options.ofEach; turn += 1, n += 1) {
      const company = withGaps(inventCompany(random, n), trap)
      build({ company, random, turn, at, put: (address, page) => void pages.set(address, page) })
      questions.push(...FACT_NAMES.map((fact) => askAbout(company, trap, fact, at, turn)))
    }
  }
  const hosts = new Set([...pages.keys()].map((address) => address.slice(0, address.indexOf('/'))))
  return { pages, hosts: [...hosts, SEARCH_HOST, COLLECTOR_HOST], questions }
}

/**
 * Adds missing facts. Every company has one fact that no page states; companies of the trap about missing
 * facts have two more.
 */
function withGaps(company: Company, trap: string): Company {
  if (trap !== 'missing facts') return company
  const first = FACT_NAMES.findIndex((name) => company.missing.has(name))
  const missing = [0, 1, 3].flatMap((step) => FACT_NAMES[(first + step) % FACT_NAMES.length] ?? [])
  return { ...company, missing: new Set(missing) }
}

const ASKED: Record<FactName, string> = {
  founded: 'In which year was it founded?',
  founder: 'Who founded it?',
  ceo: 'Who is its chief executive today?',
  headquarters: 'In which city are its headquarters?',
  employees: 'How many people does it employ today?',
}

function askAbout(
  company: Company,
  trap: string,
  fact: FactName,
  at: (host: string) => string,
  turn: number,
): Question {
  // For every second company only the name is known, so that it has to be searched for.
  const known = turn % 2 === 0 && trap !== 'look-alike' ? ` Website: ${at(company.host)}/` : ''
  return {
    trap,
    company,
    fact,
    mission: `Company: ${company.name}, ${company.trade}.${known}\n${ASKED[fact]}`,
    truth: company.missing.has(fact) ? null : company.facts[fact],
  }
}

export const fieldOf = ({ fact }: Question) => FACT_FIELDS[fact]
