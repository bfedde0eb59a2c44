import type { Company, FactName, Facts } from './facts.ts'

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja'] as const
export type Language = (typeof LANGUAGES)[number]

type Phrase = (company: string, value: string) => string

/** Several ways in which sites state each fact. */
const PHRASES: Record<Language, Record<FactName, Phrase[]>> = {
  en: {
    founded: [(c, v) => `${c} was founded in ${v}.`, (c, v) => `${c} has been in business since ${v}.`],
    founder: [(c, v) => `The founder of ${c} is ${v}.`, (c, v) => `${c} was started by ${v}.`],
    ceo: [(c, v) => `${v} is the chief executive of ${c}.`, (c, v) => `The CEO of ${c} is ${v}.`],
    headquarters: [(c, v) => `The headquarters of ${c} are in ${v}.`, (c, v) => `${c} is based in ${v}.`],
    employees: [(c, v) => `${v} people work at ${c}.`, (c, v) => `${c} has ${v} employees.`],
  },
  de: {
    founded: [(c, v) => `${c} wurde im Jahr ${v} gegründet.`],
    founder: [(c, v) => `Gegründet wurde ${c} von ${v}.`],
    ceo: [(c, v) => `Die Geschäftsführung von ${c} liegt bei ${v}.`],
    headquarters: [(c, v) => `Der Hauptsitz von ${c} ist in ${v}.`],
    employees: [(c, v) => `Bei ${c} arbeiten ${v} Menschen.`],
  },
  fr: {
    founded: [(c, v) => `${c} a été fondée en ${v}.`],
    founder: [(c, v) => `${c} a été créée par ${v}.`],
    ceo: [(c, v) => `La direction générale de ${c} est assurée par ${v}.`],
    headquarters: [(c, v) => `Le siège de ${c} se trouve à ${v}.`],
    employees: [(c, v) => `${c} emploie ${v} personnes.`],
  },
  es: {
    founded: [(c, v) => `${c} fue fundada en ${v}.`],
    founder: [(c, v) => `${c} fue creada por ${v}.`],
    ceo: [(c, v) => `La dirección general de ${c} está a cargo de ${v}.`],
    headquarters: [(c, v) => `La sede de ${c} está en ${v}.`],
    employees: [(c, v) => `${c} tiene ${v} empleados.`],
  },
  ja: {
    founded: [(c, v) => `${c}の設立は${v}年です。`],
    founder: [(c, v) => `${c}の創業者は${v}です。`],
    ceo: [(c, v) => `${c}の代表取締役は${v}です。`],
    headquarters: [(c, v) => `${c}の本社は${v}にあります。`],
    employees: [(c, v) => `${c}の従業員数は${v}名です。`],
  },
}

/** Sentences that are close to the question but do not answer it. */
const DECOYS: Record<FactName, string> = {
  founded: 'The building that we rent dates from 1921.',
  founder: 'Photographs on this site: Mira Stolz.',
  ceo: 'Press enquiries: Mira Stolz, press office.',
  headquarters: 'Meet us at the trade fair in Verona.',
  employees: '480 customers in 31 countries trust us.',
}

const SEPARATORS: Record<Language, string> = { en: ',', de: '.', fr: ' ', es: '.', ja: ',' }

function printValue(value: Facts[FactName], name: FactName, language: Language): string {
  return name === 'employees'
    ? String(value).replace(/\B(?=(\d{3})+$)/g, SEPARATORS[language])
    : String(value)
}

/**
 * Returns sentences about the facts of a company. For a fact that the company does not publish, returns
 * another sentence.
 */
export function speakOf(
  company: Company,
  names: readonly FactName[],
  language: Language = 'en',
  way = 0,
): string[] {
  return names.map((name) => {
    if (company.missing.has(name)) return DECOYS[name]
    const ways = PHRASES[language][name]
    const phrase = ways[way % ways.length]
    return phrase?.(company.name, printValue(company.facts[name], name, language)) ?? ''
  })
}
