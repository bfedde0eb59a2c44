import { useQuery } from '@tanstack/react-query'
import { sheetCall } from '../../../api/calls.ts'
import { templateQuery } from '../../../api/catalogue.ts'
import { send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { useSheet } from '../sheet-view.ts'
import { ActionForm } from './action-form.tsx'
import { Panel } from './panel.tsx'

/** The panel with the configuration of one action. */
export default function ActionPanel({ action }: { action: string }) {
  const { columns, sheet } = useSheet()
  const column = columns.find(({ key }) => key === action)
  const node = useQuery({
    queryKey: keys.sheet(sheet.sheetId).configuration(action),
    staleTime: 0,
    queryFn: ({ signal }) =>
      send(sheetCall(sheet, 'GET /actions/:action_instance_id', { params: { action_instance_id: action } }), {
        signal,
      }),
  })
  const template = useQuery({
    ...templateQuery(node.data?.data.action_id ?? ''),
    enabled: node.data !== undefined,
  })
  if (node.data !== undefined && template.data !== undefined) {
    const { data, warnings } = node.data
    return <ActionForm node={data} saved={data} warnings={warnings} template={template.data} after={null} />
  }
  const error = node.error ?? template.error
  return (
    <LoadingPanel
      name={`Action ${column?.name ?? action}`}
      error={error}
      onRetry={() => void node.refetch()}
    />
  )
}

/** A panel whose action is still loading, or could not be loaded. */
export function LoadingPanel({
  name,
  error,
  onRetry,
}: {
  name: string
  error: Error | null
  onRetry: () => void
}) {
  return (
    <Panel name={name} title={<h2 className="truncate text-14 font-semibold">{name}</h2>}>
      {error === null ? <Skeleton /> : <Problem error={error} onRetry={onRetry} />}
    </Panel>
  )
}
