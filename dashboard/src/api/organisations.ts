import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { OwnOrganisation as Schema, OwnOrganisations } from '#contract/sessions.ts'
import { get } from './client.ts'

export type OwnOrganisation = z.infer<typeof Schema>

/** Where whoever is signed in may go on to. */
export const organisationsQuery = queryOptions({
  queryKey: ['organisations'],
  staleTime: 60_000,
  queryFn: ({ signal }) => get<z.infer<typeof OwnOrganisations>>('/internal/organisations', signal),
})

/** What choosing an organisation does, as the verb of its button. */
export const VERBS = { member: 'Open', unconfirmed: 'Confirm and open', invited: 'Join' } as const

/** Why an organisation is listed, for somebody who may never have heard of it. */
export function describeOffer({ role, status, vouched_by: by }: OwnOrganisation): string {
  if (status === 'invited') return `Invitation as ${role}${by === null ? '' : ` from ${by}`}`
  if (status === 'member') return `Your role: ${role}`
  const ask = by === null ? '' : `; an administrator is ${by}`
  return `You were added as ${role} and have not confirmed it yet${ask}`
}
