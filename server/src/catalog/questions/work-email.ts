import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { type Verdict, VERDICTS } from './verification.ts'

/** Whose address is wanted; each part empty when it is not known. */
export type PersonAtCompany = {
  full_name: string
  first_name: string
  last_name: string
  domain: string
  linkedin_url: string
}

/** `status` where the finder has verified it itself. */
export type FoundEmail = { email: string; confidence: number | null; status?: Verdict }

/** Masked addresses, as `a***@acme.com`, are none. */
export const Address = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[^\s@*<>]+@[^\s@*<>]+\.[^\s@*<>]+$/)

export const workEmail: QuestionKind<PersonAtCompany, FoundEmail> = {
  result: z.object({
    email: Address,
    confidence: z.number().min(0).max(1).nullable(),
    status: z.enum(VERDICTS).exactOptional(),
  }),
}

export const hasNameAndDomain = ({ full_name, domain }: PersonAtCompany): boolean =>
  full_name !== '' && domain !== ''

/** For those who want both names apart. */
export const hasBothNames = ({ first_name, last_name, domain }: PersonAtCompany): boolean =>
  first_name !== '' && last_name !== '' && domain !== ''
