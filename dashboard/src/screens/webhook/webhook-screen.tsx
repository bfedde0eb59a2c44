import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import type { SheetWebhook as WebhookSchema } from '#contract/sheet-settings.ts'
import { type SheetId, sheetCall } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { inputsQuery } from '../../api/sheet.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { SheetLink } from '../../frame/sheet-link.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Webhook } from '../../ui/icons.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { DailyCap } from './daily-cap.tsx'

type SheetWebhook = z.infer<typeof WebhookSchema>
type Delivery = SheetWebhook['deliveries'][number]

const DIALOGS = {
  disable: {
    title: 'Disable webhook',
    description: 'Deliveries to the address will be refused.',
    verb: 'Disable',
  },
  renew: {
    title: 'New address',
    description: 'The current address stops working at once.',
    verb: 'Create new address',
  },
}

export function Screen() {
  const sheet = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/webhook' })
  const key = keys.sheet(sheet.sheetId).webhook
  const webhook = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /internal/webhook'), { signal }),
    refetchInterval: 5000,
  })
  const inputs = useQuery(inputsQuery(sheet))
  const [dialog, setDialog] = useState<keyof typeof DIALOGS | null>(null)
  const can = useCan()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: key })
  const canWrite = can('workflows:write')
  const sample = JSON.stringify(Object.fromEntries((inputs.data ?? []).map(({ name }) => [name, '...'])))
  return (
    <LoadedPage
      title="Webhook"
      query={webhook}
      actions={
        <>
          {canWrite && webhook.data?.enabled === true && (
            <>
              <Button onClick={() => setDialog('renew')}>New address</Button>
              <Button onClick={() => setDialog('disable')}>Disable webhook</Button>
            </>
          )}
          <SheetLink sheet={sheet} />
        </>
      }
    >
      {({ enabled, address, deliveries, max_credits_per_day }) => (
        <>
          {enabled ? (
            <>
              <Address address={address} sample={sample} />
              <DailyCap
                key={max_credits_per_day}
                sheet={sheet}
                cap={max_credits_per_day}
                canWrite={canWrite}
                onSaved={refresh}
              />
            </>
          ) : (
            <NoWebhook sheet={sheet} canWrite={canWrite} onEnabled={refresh} />
          )}
          {enabled && deliveries.length === 0 && <p className="text-muted">No deliveries yet.</p>}
          {deliveries.length > 0 && <Deliveries deliveries={deliveries} />}
          {dialog !== null && (
            <ConfirmDialog
              {...DIALOGS[dialog]}
              run={async () => {
                await send(
                  dialog === 'disable'
                    ? sheetCall(sheet, 'DELETE /internal/webhook')
                    : sheetCall(sheet, 'POST /internal/webhook', { body: { new_address: true } }),
                )
                await refresh()
              }}
              onClose={() => setDialog(null)}
            />
          )}
        </>
      )}
    </LoadedPage>
  )
}

function NoWebhook({
  sheet,
  canWrite,
  onEnabled,
}: {
  sheet: SheetId
  canWrite: boolean
  onEnabled: () => Promise<void>
}) {
  const enable = useMutation({
    mutationFn: () => send(sheetCall(sheet, 'POST /internal/webhook', { body: {} })),
    onSuccess: onEnabled,
    onError: (error) => notifyProblem(error, () => enable.mutate()),
  })
  return (
    <EmptyState
      icon={Webhook}
      title="No webhook yet"
      text="Each JSON object posted to the webhook address becomes a row of this sheet."
    >
      {canWrite && (
        <Button kind="primary" busy={enable.isPending} onClick={() => enable.mutate()}>
          Enable webhook
        </Button>
      )}
    </EmptyState>
  )
}

/** The address of the webhook, and buttons that copy it. */
function Address({ address, sample }: { address: string | null; sample: string }) {
  return (
    <>
      <TextField
        label="Address"
        value={address ?? ''}
        onFocus={({ target }) => target.select()}
        hint={
          address === null
            ? 'The address was encrypted with another LOAM_SECRET and cannot be shown. Create a new address.'
            : 'POST a JSON object or an array of objects. Anyone who knows this address can add rows, so treat it as a secret.'
        }
      />
      {address !== null && (
        <div className="flex flex-wrap gap-2">
          <CopyButton label="Copy address" text={() => address} />
          <CopyButton label="Copy as curl" text={() => buildCurlCommand(address, sample)} />
        </div>
      )}
    </>
  )
}

function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  return (
    <section aria-label="Latest deliveries" className="flex flex-col gap-2">
      <h2 className="text-14 font-semibold">Latest deliveries</h2>
      <Table
        label="Deliveries"
        columns={COLUMNS}
        items={deliveries}
        getKey={({ at, webhook_id }) => `${at} ${webhook_id ?? ''}`}
      />
    </section>
  )
}

const buildCurlCommand = (address: string, body: string) =>
  `curl -X POST '${address}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", String.raw`'\''`)}'`

const COLUMNS: readonly Column<Delivery>[] = [
  { name: 'Received', cell: ({ at }) => <TimeText at={at} /> },
  {
    name: 'Status',
    cell: ({ status }) => <Badge tone={status < 400 ? 'good' : 'bad'}>{String(status)}</Badge>,
  },
  { name: 'Rows', align: 'right', cell: ({ accepted }) => accepted },
  { name: 'Rejected', align: 'right', cell: ({ rejected }) => rejected },
  { name: 'Reason', cell: ({ reason }) => <span className="break-words">{reason ?? ''}</span> },
  {
    name: 'Body',
    wideOnly: true,
    cell: ({ body }) => <code className="line-clamp-2 text-12 break-all">{body}</code>,
  },
]
