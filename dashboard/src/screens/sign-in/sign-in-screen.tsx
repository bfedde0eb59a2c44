import { useMutation, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem, isTransient, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { readReturnAddress } from '../../return-address.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { Card } from './card.tsx'

export function Screen() {
  return (
    <Card title="Sign in">
      <AskForLink />
    </Card>
  )
}

const SINGLE_SIGN_ON = '/sign-in/oidc/start'

/** Returns the address that starts single sign-on and then returns to the address opened before signing in. */
function buildSingleSignOnAddress(): string {
  return `${SINGLE_SIGN_ON}?next=${encodeURIComponent(readReturnAddress())}`
}

/** The error messages for single sign-on that returned without a session. */
const PROBLEMS: Record<string, string> = {
  provider: 'Single sign-on failed. Try again. The reason is in the server log',
  expired: 'Signing in took too long, or was started in another browser. Try again',
  unverified: 'Your email address is not verified by the single sign-on provider. Verify it there first',
  not_a_member: 'Your email address does not belong to a member. Ask an administrator for an invitation',
}

function AskForLink() {
  const { problem: reason = '' } = useSearch({ from: '/sign-in' })
  const ways = useQuery({
    queryKey: keys.signInWays,
    queryFn: ({ signal }) => fetchData(call('GET /internal/sign-in'), { signal }),
  })
  if (ways.error !== null) return <Problem error={ways.error} onRetry={() => void ways.refetch()} />
  if (ways.data === undefined) return <Skeleton lines={2} />
  const { mail, oidc } = ways.data
  const problem = PROBLEMS[reason]
  return (
    <>
      {problem !== undefined && <Problem error={problem} />}
      {mail && <MailForm />}
      {oidc && (
        <a
          href={SINGLE_SIGN_ON}
          onClick={({ currentTarget }) => (currentTarget.href = buildSingleSignOnAddress())}
          className={buttonClass(mail ? 'plain' : 'primary', 'large')}
        >
          Continue with single sign-on
        </a>
      )}
      {!mail && !oidc && (
        <>
          <p className="text-muted">This server sends no mail. Its operator can create a sign-in link with</p>
          <code className="rounded-md border bg-subtle px-3 py-2 font-mono text-12 break-words">
            npx loam sign-in-link --email you@example.com
          </code>
        </>
      )}
    </>
  )
}

function MailForm() {
  const [email, setEmail] = useState('')
  const ask = useMutation({
    mutationFn: () =>
      send(call('POST /internal/sign-in/links', { body: { email } }), { staysSignedOut: true }),
  })
  const problem = fieldProblem(ask.error, 'email')
  if (ask.isSuccess) {
    return (
      <p role="status">
        If <strong>{email}</strong> belongs to a member, a link is on its way. It can be used once within 15
        minutes.
      </p>
    )
  }
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        ask.mutate()
      }}
    >
      <TextField
        label="Email"
        type="email"
        autoComplete="email"
        value={email}
        onChange={setEmail}
        problem={problem}
      />
      {ask.error !== null && problem === undefined && (
        <Problem error={ask.error} {...(isTransient(ask.error) ? { onRetry: () => ask.mutate() } : {})} />
      )}
      <Button type="submit" kind="primary" size="large" busy={ask.isPending}>
        Send me a link
      </Button>
    </form>
  )
}
