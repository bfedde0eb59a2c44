import { Link } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { Problem } from '../ui/problem.tsx'
import { Page } from './page.tsx'

export function NotFound() {
  return (
    <Page title="Not found">
      <p className="text-muted">There is nothing at this address, or it is not yours to see.</p>
      <p>
        <Link to="/" className="text-accent-text underline">
          Go to the start
        </Link>
      </p>
    </Page>
  )
}

export function NotAllowed() {
  return (
    <Page title="Not allowed">
      <p className="text-muted">
        Your role does not include this. An administrator can change it under Members.
      </p>
    </Page>
  )
}

/** A screen that could not be shown: its script did not come, as when the server was away, or it threw. */
export function Broken({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong">
      <Problem error={error} onRetry={() => location.reload()} />
    </Page>
  )
}

/** In place of a screen whose data did not come: absent and foreign things look alike. */
export function Refusal({ error, title, onRetry }: { error: unknown; title: string; onRetry: () => void }) {
  const status = error instanceof ApiError ? error.status : null
  if (status === 404 || status === 400) return <NotFound />
  if (status === 403) return <NotAllowed />
  return (
    <Page title={title}>
      <Problem error={error} onRetry={onRetry} />
    </Page>
  )
}
