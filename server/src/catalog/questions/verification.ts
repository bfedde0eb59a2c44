import { z } from 'zod'
import { type Found, hit, type QuestionKind } from '../provider/adapter.ts'

export const VERDICTS = ['valid', 'invalid', 'catch_all', 'disposable', 'role', 'unknown'] as const
export type Verdict = (typeof VERDICTS)[number]
export type Verification = { status: Verdict; reason: string | null; mx: string | null }

export const verification: QuestionKind<{ email: string }, Verification> = {
  result: z.object({ status: z.enum(VERDICTS), reason: z.string().nullable(), mx: z.string().nullable() }),
}

/** Returns a verifier's verdict. A verifier that cannot tell is not paid, and the next one is called. */
export function verdict(
  status: Verdict,
  reason: string | null = null,
  mx: string | null = null,
): Found<Verification> {
  const found = hit({ status, reason, mx }, status !== 'unknown')
  return status === 'unknown' && found.kind === 'hit' ? { ...found, free: true } : found
}
