import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { fetchData, isTransient } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useTitle } from '../../frame/page.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

/** The page of an invitation. Opening the link does not use it up, because mail scanners open links; only the button does. */
export function Screen() {
  const params = useParams({ from: '/invitations/$token' })
  const invitation = useQuery({
    queryKey: keys.invitation(params.token),
    queryFn: ({ signal }) => fetchData(call('GET /internal/invitations/:token', { params }), { signal }),
    retry: false,
  })
  const accept = useMutation({
    mutationFn: () =>
      fetchData(call('POST /internal/invitations/:token', { params, body: {} }), { staysSignedOut: true }),
    // A full page load, because the session has changed.
    onSuccess: ({ next }) => location.assign(next),
  })
  const title = invitation.data === undefined ? 'Invitation' : `Join ${invitation.data.organisation}`
  useTitle(title)
  return (
    <main className="flex min-h-full items-center justify-center bg-subtle p-4">
      <div className="flex w-full max-w-[400px] flex-col gap-4 rounded-xl border bg-bg p-6">
        <img src="/icon.svg" alt="" width={32} height={32} />
        <h1 className="text-20 font-semibold wrap-anywhere">{title}</h1>
        {invitation.error !== null && (
          <>
            <Problem error={invitation.error} onRetry={() => void invitation.refetch()} />
            <a href="/sign-in" className={buttonClass('plain', 'large')}>
              Sign in
            </a>
          </>
        )}
        {invitation.data === undefined && invitation.error === null && <Skeleton lines={2} />}
        {invitation.data !== undefined && (
          <>
            <p className="text-muted wrap-anywhere">{`You are invited as ${invitation.data.role} with the address ${invitation.data.email}.`}</p>
            {accept.error !== null && (
              <Problem
                error={accept.error}
                {...(isTransient(accept.error) ? { onRetry: () => accept.mutate() } : {})}
              />
            )}
            <Button kind="primary" size="large" busy={accept.isPending} onClick={() => accept.mutate()}>
              Accept the invitation
            </Button>
          </>
        )}
      </div>
    </main>
  )
}
