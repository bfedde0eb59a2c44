import type { z } from 'zod'
import type { Option } from '../fields/field.ts'
import type { Answer, Provider, ProviderRequest } from './provider.ts'

export type Ask = <Body>(request: ProviderRequest, schema: z.ZodType<Body>) => Promise<Answer<Body>>

/** Words of a dropdown that only the caller's account with a provider knows. */
export type OptionQuery = {
  provider: Provider
  /** The field whose value it depends on, which the context names; what cannot be one is not asked about. */
  parent?: { field: string; fits: (value: string) => boolean }
  list(ask: Ask, parent: string): Promise<Answer<Option[]>>
}

/** An answer with its body made into something else. */
export function mapAnswer<Body, Other>(answer: Answer<Body>, make: (body: Body) => Other): Answer<Other> {
  return answer.ok ? { ok: true, body: make(answer.body) } : answer
}

export function byLabel(options: Option[]): Option[] {
  return options.sort((a, b) => a.label.localeCompare(b.label))
}
