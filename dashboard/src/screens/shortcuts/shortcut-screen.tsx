import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { EditSchema } from './edit-schema.tsx'
import { ShortcutBatch } from './shortcut-batch.tsx'
import { ShortcutForm } from './shortcut-form.tsx'
import { ShortcutRuns } from './shortcut-runs.tsx'
import { ShortcutVersions } from './shortcut-versions.tsx'
import { canBeRun, describeState, type Shortcut } from './shortcut.ts'

type Change = 'unpublish' | 'archive'
const DIALOG_TEXTS: Record<Change, { title: string; verb: string; text: string }> = {
  unpublish: {
    title: 'Unpublish',
    verb: 'Unpublish',
    text: 'The shortcut cannot be run until it is published again.',
  },
  archive: {
    title: 'Archive',
    verb: 'Archive',
    text: 'The shortcut can no longer be run. Its past runs stay readable.',
  },
}

export function Screen() {
  const { id } = useParams({ from: '/frame/shortcuts/$id' })
  const shortcut = useQuery({
    queryKey: keys.shortcut(id),
    queryFn: ({ signal }) => fetchData(call('GET /shortcuts/:id', { params: { id } }), { signal }),
  })
  const [asked, setAsked] = useState<Change | null>(null)
  const [isEditing, setEditing] = useState(false)
  const can = useCan()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.shortcuts })
  const found = shortcut.data
  const mayChange = can('workflows:write') && found?.is_master === true
  return (
    <LoadedPage
      title={found?.name ?? 'Shortcut'}
      query={shortcut}
      actions={
        mayChange && (
          <Changes shortcut={found} refresh={refresh} onEdit={() => setEditing(true)} onAsk={setAsked} />
        )
      }
    >
      {(shown) => (
        <>
          {shown.description !== '' && <p className="text-muted">{shown.description}</p>}
          {!canBeRun(shown) && (
            <p role="status">{`This shortcut is ${describeState(shown)} and cannot be run.`}</p>
          )}
          <Tabs
            label="Parts of the shortcut"
            tabs={[
              { name: 'Form', content: <ShortcutForm shortcut={shown} /> },
              { name: 'Batch', content: <ShortcutBatch shortcut={shown} /> },
              ...(mayChange ? [{ name: 'Versions', content: <ShortcutVersions id={id} /> }] : []),
            ]}
          />
          <ShortcutRuns shortcut={shown} />
          {isEditing && <EditSchema shortcut={shown} onClose={() => setEditing(false)} />}
          {asked !== null && (
            <ConfirmDialog
              title={`${DIALOG_TEXTS[asked].title} ${shown.name}`}
              description={DIALOG_TEXTS[asked].text}
              verb={DIALOG_TEXTS[asked].verb}
              run={async () => {
                await send(call(`POST /internal/shortcuts/:id/${asked}`, { params: { id } }))
                await refresh()
              }}
              onClose={() => setAsked(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

/** The buttons that change a shortcut. */
function Changes({
  shortcut,
  refresh,
  onEdit,
  onAsk,
}: {
  shortcut: Shortcut
  refresh: () => Promise<void>
  onEdit: () => void
  onAsk: (change: Change) => void
}) {
  const republish = useMutation({
    mutationFn: () =>
      send(call('POST /internal/shortcuts/:id/republish', { params: { id: shortcut.id }, body: {} })),
    onSuccess: async () => {
      await refresh()
      notify('Republished with the current workflow')
    },
    onError: notifyProblem,
  })
  return (
    <>
      <Link
        to="/workflows/$workflowId"
        params={{ workflowId: shortcut.workflow_id }}
        className={buttonClass()}
      >
        Open the workflow
      </Link>
      <Button onClick={onEdit}>Edit schema</Button>
      <Button busy={republish.isPending} onClick={() => republish.mutate()}>
        Republish
      </Button>
      <Button disabled={!canBeRun(shortcut)} onClick={() => onAsk('unpublish')}>
        Unpublish
      </Button>
      <Button disabled={shortcut.is_archived} onClick={() => onAsk('archive')}>
        Archive
      </Button>
    </>
  )
}
