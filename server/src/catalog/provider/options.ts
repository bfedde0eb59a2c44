import type { z } from 'zod'
import type { Option } from '../fields/field.ts'
import type { Provider, ProviderRequest } from './provider.ts'
import type { ProviderReply } from './reply.ts'

/** Sends one request on the caller's own connection. */
export type SendRequest = <Body>(
  request: ProviderRequest,
  schema: z.ZodType<Body>,
) => Promise<ProviderReply<Body>>

/** Words of a dropdown that only the caller's account with a provider knows. */
export type OptionQuery = {
  provider: Provider
  /** The field whose value it depends on, which the context names; what cannot be one is not asked about. */
  parent?: ParentField
  /** The field that the parent depends on in its turn. */
  within?: ParentField
  list(send: SendRequest, parent: string, within: string): Promise<ProviderReply<Option[]>>
}

type ParentField = { field: string; fits: (value: string) => boolean }

/** A reply with its body made into something else. */
export function mapReply<Body, Other>(
  reply: ProviderReply<Body>,
  make: (body: Body) => Other,
): ProviderReply<Other> {
  return reply.ok ? { ok: true, body: make(reply.body) } : reply
}

export function byLabel(options: Option[]): Option[] {
  return options.sort((a, b) => a.label.localeCompare(b.label))
}
