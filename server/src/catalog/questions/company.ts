import { z } from 'zod'
import { type Found, hit, MISS, type QuestionKind } from '../provider/adapter.ts'
import { Amount, Text } from './answer-fields.ts'
import { bareHost } from './person-input.ts'

export type CompanyQuestion = { domain: string; name: string; linkedin_url: string }

/** A bare host such as `acme.com`, whatever form it was given in. */
export const Host = z
  .string()
  .transform((text) => bareHost(text) || null)
  .nullable()
  .catch(null)

const Result = z.object({
  name: z.string().min(1),
  domain: Host,
  description: Text,
  industry: Text,
  employees: Amount,
  revenue_range: Text,
  founded: Amount,
  hq: Text,
  ticker: Text,
  linkedin_url: Text,
})
export type Company = z.output<typeof Result>

export const company: QuestionKind<CompanyQuestion, Company> = { result: Result }

type Known = { [Field in keyof Company]?: Company[Field] | null | undefined }

/** Returns a company made from its known fields. Without a name it is a miss. */
export function tellCompany({ name, ...known }: Known): Found<Company> {
  if (!name) return MISS
  return hit({
    name,
    domain: known.domain ?? null,
    description: known.description ?? null,
    industry: known.industry ?? null,
    employees: known.employees ?? null,
    revenue_range: known.revenue_range ?? null,
    founded: known.founded ?? null,
    hq: known.hq ?? null,
    ticker: known.ticker ?? null,
    linkedin_url: known.linkedin_url ?? null,
  })
}
