import type { z } from 'zod'
import type { Option } from '../fields/field.ts'
import type { Provider, ProviderRequest } from './provider.ts'
import type { ProviderReply } from './reply.ts'

/** Sends one request on the caller's own connection. */
export type SendRequest = <Body>(
  request: ProviderRequest,
  schema: z.ZodType<Body>,
) => Promise<ProviderReply<Body>>

/** The options of a dropdown that only the caller's account with a provider knows. */
export type OptionQuery = {
  provider: Provider
  /** The field that the options depend on, which the context names. A value that cannot be valid is not sent. */
  parent?: ParentField
  /** The field that the parent depends on itself. */
  within?: ParentField
  list(send: SendRequest, parent: string, within: string): Promise<ProviderReply<Option[]>>
}

type ParentField = { field: string; fits: (value: string) => boolean }

/** Returns the reply with its body converted. */
export function mapReply<Body, Other>(
  reply: ProviderReply<Body>,
  make: (body: Body) => Other,
): ProviderReply<Other> {
  return reply.ok ? { ok: true, body: make(reply.body) } : reply
}

/** The length of the part of a label that is compared: some texts take quadratic time. */
const COMPARED = 200
const { compare } = new Intl.Collator()

export function byLabel(options: Option[]): Option[] {
  return options.sort((a, b) => compare(a.label.slice(0, COMPARED), b.label.slice(0, COMPARED)))
}
