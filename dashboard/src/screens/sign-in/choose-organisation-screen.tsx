import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../../api/calls.ts'
import { fetchData, isTransient } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { describeOffer, type OwnOrganisation, VERBS } from '../../api/organisations.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Card } from './card.tsx'

/** The screen after single sign-on if the person has more than one organisation, or none that they have confirmed. */
export function Screen() {
  const choices = useQuery({
    queryKey: keys.signInChoices,
    retry: false,
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/sign-in/organisations'), { signal, staysSignedOut: true }),
  })
  const choose = useMutation({
    mutationFn: (orgId: string) =>
      fetchData(call('POST /internal/sign-in/organisations', { body: { org_id: orgId } }), {
        staysSignedOut: true,
      }),
    // A full page load, so that the session starts with an empty cache.
    onSuccess: ({ next }) => location.replace(next),
  })
  const error = choose.error ?? choices.error
  return (
    <Card title="Choose an organisation" wide>
      {error !== null && (
        <>
          <Problem
            error={error}
            {...(isTransient(error) && choose.error === null
              ? { onRetry: () => void choices.refetch() }
              : {})}
          />
          <a href="/sign-in" className={buttonClass('plain', 'large')}>
            Sign in again
          </a>
        </>
      )}
      {choices.data === undefined && error === null && <Skeleton lines={3} />}
      {choices.data !== undefined && (
        <>
          <p className="text-muted wrap-anywhere">{`You are signed in as ${choices.data.email}.`}</p>
          <ul aria-label="Organisations" className="flex flex-col divide-y rounded-md border">
            {choices.data.organisations.map((one) => (
              <Choice
                key={one.org_id}
                organisation={one}
                busy={choose.isSuccess || (choose.isPending && choose.variables === one.org_id)}
                onChoose={() => choose.mutate(one.org_id)}
              />
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

type ChoiceProps = { organisation: OwnOrganisation; busy: boolean; onChoose: () => void }

function Choice({ organisation, busy, onChoose }: ChoiceProps) {
  const { name, status } = organisation
  const verb = VERBS[status]
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-3 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <div className="font-medium wrap-anywhere">{name}</div>
        <div className="text-12 text-muted wrap-anywhere">{describeOffer(organisation)}</div>
      </div>
      <Button
        kind={status === 'member' ? 'primary' : 'plain'}
        busy={busy}
        aria-label={`${verb} ${name}`}
        onClick={onChoose}
      >
        {verb}
      </Button>
    </li>
  )
}
