import { ApiError } from '../api/client.ts'
import { Button } from './button.tsx'
import { CircleAlert } from './icons.tsx'

/** An error message with the request id, which is also in the server log, and a button to retry. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <div
      role="alert"
      className="flex items-start gap-2 rounded-md border border-failed/40 bg-failed-bg px-3 py-2 text-failed"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="break-words">{getErrorText(error)}</p>
        {requestId !== null && <p className="text-11 break-all">Request {requestId}</p>}
      </div>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}

export function getErrorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
