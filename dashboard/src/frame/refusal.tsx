import { Link } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { Problem } from '../ui/problem.tsx'
import { Page } from './page.tsx'

export function NotFound() {
  return (
    <Page title="Not found">
      <p className="text-muted">This page does not exist, or you do not have access to it.</p>
      <p>
        <Link to="/" className="text-accent-text underline">
          Go to the home page
        </Link>
      </p>
    </Page>
  )
}

export function NotAllowed() {
  return (
    <Page title="Not allowed">
      <p className="text-muted">
        Your role does not include this page. An administrator can change your role under Members.
      </p>
    </Page>
  )
}

/** The page for a screen that failed: its script could not be loaded, or it threw an error. */
export function Broken({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong">
      <Problem error={error} onRetry={() => location.reload()} />
    </Page>
  )
}

/** The page for a screen whose data could not be loaded. Absent and forbidden resources look the same. */
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
