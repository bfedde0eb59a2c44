import { type ColumnKind, kindOf, type SampledColumn } from './column-kinds.ts'

/** An action that suits the columns of a sheet, with inputs that name them. */
export type Suggestion = { action_id: string; reason: string; inputs: Record<string, unknown> }

/** A column, or several that together hold one value, as first and last name do. */
type Found = { names: readonly string[]; value: string; isSparse?: boolean }
type Kinds = ReadonlyMap<ColumnKind | 'person' | 'site', Found>
type Rule = {
  action_id: string
  /** The kinds of columns that the action is suggested for, and those in whose presence it is not. */
  needs: readonly (ColumnKind | 'person' | 'site')[]
  unless?: readonly ColumnKind[]
  /** Words for the contents of the columns, after their names. */
  because: string
  inputs: (...values: string[]) => Record<string, unknown>
}

export const MAX_SUGGESTIONS = 8

/** The part of the rows that must have a value for a column to make an action needless that finds such values. */
const FILLED = 0.7

/** The kinds that the name of an output can tell; others would be guesses. */
const OUTPUT_KINDS: ReadonlySet<ColumnKind> = new Set(['email', 'domain', 'phone', 'profile', 'company_page'])
const IDENTIFYING: ReadonlySet<ColumnKind> = new Set([
  'email',
  'domain',
  'profile',
  'website',
  'company_page',
])

/** The rules, the most useful first. */
const RULES: readonly Rule[] = [
  {
    action_id: 'normalize_domain',
    needs: ['website', 'email'],
    unless: ['domain'],
    because: 'hold addresses',
    inputs: (website, email) => ({ value: `${website} ${email}` }),
  },
  {
    action_id: 'normalize_domain',
    needs: ['website'],
    unless: ['domain'],
    because: 'holds addresses',
    inputs: (value) => ({ value }),
  },
  {
    action_id: 'find_company_domain',
    needs: ['company'],
    unless: ['domain', 'website', 'email'],
    because: 'holds names of companies',
    inputs: (name) => ({ name }),
  },
  {
    action_id: 'person_work_email_waterfall',
    needs: ['person', 'site'],
    unless: ['email'],
    because: 'tell who works where',
    inputs: (full_name, company_domain) => ({ full_name, company_domain }),
  },
  {
    action_id: 'person_work_email_waterfall',
    needs: ['profile'],
    unless: ['email'],
    because: 'holds LinkedIn profiles',
    inputs: (linkedin_url) => ({ linkedin_url }),
  },
  {
    action_id: 'verify_email',
    needs: ['email'],
    because: 'holds email addresses',
    inputs: (email) => ({ email }),
  },
  {
    action_id: 'enrich_person_linkedin_profile',
    needs: ['profile'],
    because: 'holds LinkedIn profiles',
    inputs: (linkedin_url) => ({ linkedin_url }),
  },
  {
    action_id: 'enrich_company_linkedin_profile',
    needs: ['company_page'],
    because: 'holds LinkedIn pages of companies',
    inputs: (linkedin_url) => ({ linkedin_url }),
  },
  {
    action_id: 'enrich_company',
    needs: ['site'],
    because: 'leads to companies',
    inputs: (domain) => ({ domain }),
  },
  {
    action_id: 'parse_phone_number',
    needs: ['phone'],
    because: 'holds phone numbers',
    inputs: (value) => ({ value }),
  },
  {
    action_id: 'split_full_name',
    needs: ['full_name'],
    unless: ['first_name', 'last_name'],
    because: 'holds names of people',
    inputs: (value) => ({ value }),
  },
  {
    action_id: 'normalize_domain',
    needs: ['email'],
    unless: ['domain', 'website'],
    because: 'holds email addresses',
    inputs: (value) => ({ value }),
  },
  {
    action_id: 'scrape_website',
    needs: ['page'],
    because: 'holds addresses of pages',
    inputs: (url) => ({ url }),
  },
  {
    action_id: 'raw_to_structured_array',
    needs: ['json_list'],
    because: 'holds lists as JSON',
    inputs: (array) => ({ array }),
  },
  {
    action_id: 'ai_generate',
    needs: ['long_text'],
    because: 'holds long texts',
    inputs: (text) => ({ prompt: `Summarize in one sentence:\n\n${text}` }),
  },
  {
    action_id: 'find_people_at_company',
    needs: ['site'],
    unless: ['full_name', 'email', 'profile', 'first_name'],
    because: 'leads to companies',
    inputs: (domain) => ({ domain }),
  },
  {
    action_id: 'person_phone_waterfall',
    needs: ['profile'],
    unless: ['phone'],
    because: 'holds LinkedIn profiles',
    inputs: (linkedin_url) => ({ linkedin_url }),
  },
  {
    action_id: 'company_technologies',
    needs: ['site'],
    because: 'leads to companies',
    inputs: (domain) => ({ domain }),
  },
  {
    action_id: 'company_news',
    needs: ['company'],
    because: 'holds names of companies',
    inputs: (company_name) => ({ company_name }),
  },
]

/** The inputs of a sheet with samples, the outputs of its actions, and those actions. */
export type SuggestionSubject = {
  inputs: readonly SampledColumn[]
  outputs: readonly SampledColumn[]
  actions: readonly { action_id: string; inputs: unknown }[]
}

/** Suggests actions for the columns of a sheet, the most useful first. Those that the sheet has already are left out. */
export function suggestActions({ inputs, outputs, actions }: SuggestionSubject): Suggestion[] {
  const kinds = findKinds(inputs, outputs)
  const ruled = RULES.flatMap(({ action_id, needs, unless = [], because, inputs: fill }) => {
    const found = needs.flatMap((kind) => kinds.get(kind) ?? [])
    if (found.length < needs.length || unless.some((kind) => kinds.get(kind)?.isSparse === false)) return []
    const reason = `${joinNames(found.flatMap(({ names }) => names))} ${because}`
    return [{ action_id, reason, inputs: fill(...found.map(({ value }) => value)) }]
  })
  const seen = new Set(actions.map(({ action_id }) => action_id))
  return [...suggestDedupe(inputs), ...ruled]
    .filter(({ action_id }) => !seen.has(action_id) && seen.add(action_id) !== undefined)
    .slice(0, MAX_SUGGESTIONS)
}

function findKinds(inputs: readonly SampledColumn[], outputs: readonly SampledColumn[]): Kinds {
  const kinds = new Map<ColumnKind | 'person' | 'site', Found>()
  const fullest = Math.max(0, ...inputs.map(({ samples }) => samples.length))
  const add = (column: SampledColumn, kind: ColumnKind | null) => {
    if (kind === null || kinds.has(kind)) return
    const { name, token, samples } = column
    const isSparse = samples.length > 0 && samples.length < fullest * FILLED
    kinds.set(kind, { names: [name], value: token, isSparse })
  }
  for (const column of inputs) add(column, kindOf(column))
  for (const column of outputs) {
    const kind = kindOf(column)
    add(column, kind !== null && OUTPUT_KINDS.has(kind) ? kind : null)
  }
  const [first, last] = [kinds.get('first_name'), kinds.get('last_name')]
  const whole =
    first === undefined || last === undefined
      ? undefined
      : { names: [...first.names, ...last.names], value: `${first.value} ${last.value}` }
  const person = kinds.get('full_name') ?? whole
  const site = kinds.get('domain') ?? kinds.get('website')
  if (person !== undefined) kinds.set('person', person)
  if (site !== undefined) kinds.set('site', site)
  return kinds
}

/** Suggests to remove duplicates by the first identifying column with repeated values. */
function suggestDedupe(inputs: readonly SampledColumn[]): Suggestion[] {
  const repeating = inputs.find((column) => {
    const kind = kindOf(column)
    if (kind === null || !IDENTIFYING.has(kind)) return false
    const values = column.samples.map((sample) => sample.trim().toLowerCase())
    return new Set(values).size < values.length
  })
  if (repeating === undefined) return []
  return [
    {
      action_id: 'auto_dedupe_rows',
      reason: `${joinNames([repeating.name])} has repeated values`,
      inputs: { auto_dedupe_columns: [repeating.token] },
    },
  ]
}

/** Prints `"Name"`, `"Name" and "Website"`, `"First name", "Last name" and "Website"`. */
function joinNames(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`)
  const last = quoted.pop() ?? ''
  return quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`
}
