import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { type Verdict, VERDICTS } from './verification.ts'

/** The person whose address is wanted. Unknown parts are empty. */
export type PersonAtCompany = {
  full_name: string
  first_name: string
  last_name: string
  domain: string
  linkedin_url: string
}

/** An address that was found. `status` is set if the finder has verified it itself. */
export type FoundEmail = { email: string; confidence: number | null; status?: Verdict }

/** An email address. Masked ones, such as `a***@acme.com`, are rejected. */
export const Address = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[^\s@*<>]+@[^\s@*<>.]+(\.[^\s@*<>.]+)+$/)

export const workEmail: QuestionKind<PersonAtCompany, FoundEmail> = {
  result: z.object({
    email: Address,
    confidence: z.number().min(0).max(1).nullable(),
    status: z.enum(VERDICTS).exactOptional(),
  }),
}

export const hasNameAndDomain = ({ full_name, domain }: PersonAtCompany): boolean =>
  full_name !== '' && domain !== ''

/** Returns true if first and last name are both known, for providers that need them apart. */
export const hasBothNames = ({ first_name, last_name, domain }: PersonAtCompany): boolean =>
  first_name !== '' && last_name !== '' && domain !== ''
