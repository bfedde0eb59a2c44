import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { TriangleAlert } from '../../ui/icons.tsx'

/** The sources that stopped by themselves and wait for somebody. Nothing is shown if there are none. */
export function SourcesToMend() {
  const canRead = useCan()('sources:read')
  const sources = useQuery({
    queryKey: keys.sources,
    queryFn: ({ signal }) => fetchData(call('GET /sources'), { signal }),
    enabled: canRead,
  })
  const stopped = sources.data?.filter(({ status }) => status === 'paused_out_of_credits') ?? []
  if (stopped.length === 0) return null
  return (
    <ul aria-label="Needs attention" className="flex flex-col gap-1 rounded-lg border bg-failed-bg p-3">
      {stopped.map(({ source_instance_id: id, name }) => (
        <li key={id} className="flex items-center gap-2 text-failed">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          <span className="wrap-anywhere">
            <Link to="/sources/$id" params={{ id }} className="font-medium underline">
              {name}
            </Link>
            {' is paused: it reached its credit limit.'}
          </span>
        </li>
      ))}
    </ul>
  )
}
