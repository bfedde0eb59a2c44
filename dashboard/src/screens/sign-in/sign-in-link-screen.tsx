import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { ApiError, fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { takeReturnAddress } from '../../return-address.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Card } from './card.tsx'

/** The page of a sign-in link. Opening it does not use the link up; only the button does. */
export function Screen() {
  return (
    <Card title="Sign in">
      <UseLink />
    </Card>
  )
}

function UseLink() {
  const params = useParams({ from: '/sign-in/$token' })
  const link = useQuery({
    queryKey: keys.signInLink(params.token),
    retry: false,
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/sign-in/:token', { params }), { signal, staysSignedOut: true }),
  })
  const use = useMutation({
    mutationFn: () =>
      fetchData(call('POST /internal/sign-in/:token', { params, body: { next: takeReturnAddress() } }), {
        staysSignedOut: true,
      }),
    // A full page load, so that the session starts with an empty cache.
    onSuccess: ({ next }) => location.replace(next),
  })
  const error = use.error ?? link.error
  if (error !== null) {
    const isSpent =
      error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
    if (!isSpent) {
      return (
        <Problem error={error} onRetry={() => (use.error === null ? void link.refetch() : use.mutate())} />
      )
    }
    return (
      <>
        <div role="alert" className="rounded-md border border-failed/40 bg-failed-bg px-3 py-2 text-failed">
          This link was used or has expired. Request a new one.
        </div>
        <a href="/sign-in" className={buttonClass('plain', 'large')}>
          Sign in another way
        </a>
      </>
    )
  }
  if (link.data === undefined) return <Skeleton lines={2} />
  return (
    <Button kind="primary" size="large" busy={use.isPending || use.isSuccess} onClick={() => use.mutate()}>
      {`Sign in as ${link.data.email}`}
    </Button>
  )
}
