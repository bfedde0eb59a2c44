import { useQuery } from '@tanstack/react-query'
import { templateQuery } from '../../../api/catalogue.ts'
import { request } from '../../../api/client.ts'
import type { GraphNode } from '../../../api/sheet.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { useSheet } from '../sheet-view.ts'
import { ActionForm } from './action-form.tsx'
import { Panel } from './panel.tsx'

/** The panel with the configuration of one action. */
export default function ActionPanel({ action }: { action: string }) {
  const { columns, path, sheet } = useSheet()
  const column = columns.find(({ key }) => key === action)
  const node = useQuery({
    queryKey: ['sheet', sheet.sheetId, 'action', action],
    staleTime: 0,
    queryFn: ({ signal }) =>
      request<GraphNode>('GET', `${path}/actions/${encodeURIComponent(action)}`, undefined, { signal }),
  })
  const template = useQuery({
    ...templateQuery(node.data?.data.action_id ?? ''),
    enabled: node.data !== undefined,
  })
  const error = node.error ?? template.error
  if (node.data !== undefined && template.data !== undefined) {
    const { data, warnings } = node.data
    return <ActionForm key={JSON.stringify(data)} node={data} warnings={warnings} template={template.data} />
  }
  const name = `Action ${column?.name ?? action}`
  return (
    <Panel name={name} title={<h2 className="truncate text-14 font-semibold">{name}</h2>}>
      {error === null ? <Skeleton /> : <Problem error={error} onRetry={() => void node.refetch()} />}
    </Panel>
  )
}
