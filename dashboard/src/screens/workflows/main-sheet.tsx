import { Navigate, useParams } from '@tanstack/react-router'

/** Redirects to the main sheet, which has the id of its workflow. If there is none, the sheet screen shows `Not found`. */
export function Screen() {
  const { workflowId = '' }: { workflowId?: string } = useParams({ strict: false })
  return <Navigate to={`/workflows/${workflowId}/sheets/${workflowId}`} replace />
}
