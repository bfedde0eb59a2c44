import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { OwnOrganisation as Schema } from '#contract/sessions.ts'
import { call } from './calls.ts'
import { fetchData } from './client.ts'
import { keys } from './keys.ts'

export type OwnOrganisation = z.infer<typeof Schema>

/** The organisations that the signed-in person can switch to. */
export const organisationsQuery = queryOptions({
  queryKey: keys.organisations,
  staleTime: 60_000,
  queryFn: ({ signal }) => fetchData(call('GET /internal/organisations'), { signal }),
})

/** The button label for choosing an organisation, by membership status. */
export const VERBS = { member: 'Open', unconfirmed: 'Confirm and open', invited: 'Join' } as const

/** Returns why an organisation is listed, for a person who may not know it. */
export function describeOffer({ role, status, vouched_by: by }: OwnOrganisation): string {
  if (status === 'invited') return `Invitation as ${role}${by === null ? '' : ` from ${by}`}`
  if (status === 'member') return `Your role: ${role}`
  const contact = by === null ? '' : `; contact: ${by}`
  return `You were added as ${role} and have not confirmed it yet${contact}`
}
