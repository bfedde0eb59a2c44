import { queryOptions, useQuery } from '@tanstack/react-query'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.shortcutVersions(id),
    queryFn: ({ signal }) =>
      fetchData(call('GET /internal/shortcuts/:id/versions', { params: { id } }), { signal }),
  })

/** The versions of a shortcut with their changes, and the changes that are not published yet. */
export function ShortcutVersions({ id }: { id: string }) {
  const versions = useQuery(versionsQuery(id))
  if (versions.error !== null)
    return <Problem error={versions.error} onRetry={() => void versions.refetch()} />
  if (versions.data === undefined) return <Skeleton lines={3} />
  const { unpublished, versions: list } = versions.data
  return (
    <div className="flex flex-col gap-3">
      {unpublished.length > 0 && (
        <section aria-label="Not published yet" className="rounded-md bg-subtle px-3 py-2">
          <p className="font-medium">The workflow has changed. Republish to include:</p>
          <Changes label="Changes not published yet" changes={unpublished} />
        </section>
      )}
      <Table
        label="Versions"
        items={list}
        getKey={({ version }) => String(version)}
        columns={[
          { name: 'Version', align: 'right', cell: ({ version }) => version },
          {
            name: 'Changes',
            cell: ({ version, changes }) =>
              changes.length === 0 ? (
                <span className="text-muted">{version === 1 ? 'First version' : 'None'}</span>
              ) : (
                <Changes label={`Changes of version ${version}`} changes={changes} />
              ),
          },
          {
            name: 'Published by',
            wideOnly: true,
            cell: ({ created_by }) => <span className="break-all">{created_by}</span>,
          },
          { name: 'Published', cell: ({ created_at }) => <TimeText at={created_at} /> },
        ]}
      />
    </div>
  )
}

function Changes({ label, changes }: { label: string; changes: readonly string[] }) {
  return (
    <ul aria-label={label} className="flex flex-col">
      {changes.map((change) => (
        <li key={change} className="break-words">
          {change}
        </li>
      ))}
    </ul>
  )
}
