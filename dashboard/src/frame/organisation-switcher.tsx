import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/calls.ts'
import { fetchData } from '../api/client.ts'
import { describeOffer, organisationsQuery, type OwnOrganisation, VERBS } from '../api/organisations.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Building2 } from '../ui/icons.tsx'
import { MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { notifyProblem } from '../ui/toasts.tsx'

/** Starts a session in the organisation and reloads the page, so that nothing of the previous one stays in memory. */
const switchTo = async (orgId: string) => {
  const { next } = await fetchData(call('POST /internal/session/organisation', { body: { org_id: orgId } }))
  location.assign(next)
}

const NOTES = { unconfirmed: 'to confirm', invited: 'invitation' } as const

/** Returns menu items for the person's other organisations, and the dialog that confirms joining one. */
export function useOrganisationSwitcher() {
  const { data } = useQuery(organisationsQuery)
  const [offer, setOffer] = useState<OwnOrganisation | null>(null)
  const change = useMutation({ mutationFn: switchTo, onError: (error) => notifyProblem(error) })
  const others = data?.organisations.filter(({ current }) => !current) ?? []
  return {
    items: others.length > 0 && (
      <>
        <MenuLabel>Switch organisation</MenuLabel>
        {others.map((one) => (
          <MenuItem
            key={one.org_id}
            icon={Building2}
            {...(one.status === 'member' ? {} : { note: NOTES[one.status] })}
            onSelect={() => (one.status === 'member' ? change.mutate(one.org_id) : setOffer(one))}
          >
            {one.name}
          </MenuItem>
        ))}
        <MenuSeparator />
      </>
    ),
    dialog: offer !== null && (
      <ConfirmDialog
        title={`${VERBS[offer.status]} ${offer.name}`}
        description={`${describeOffer(offer)}.`}
        verb={VERBS[offer.status]}
        kind="primary"
        run={() => switchTo(offer.org_id)}
        onClose={() => setOffer(null)}
      />
    ),
  }
}
