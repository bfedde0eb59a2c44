import { Navigate, useParams } from '@tanstack/react-router'

/** The main sheet has the id of its workflow; the sheet says itself when there is none. */
export function Screen() {
  const { workflowId = '' }: { workflowId?: string } = useParams({ strict: false })
  return <Navigate to={`/workflows/${workflowId}/sheets/${workflowId}`} replace />
}
