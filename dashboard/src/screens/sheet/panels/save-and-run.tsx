import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type SheetId, sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { plural } from '../../../ui/figure.ts'
import { ChevronDown } from '../../../ui/icons.tsx'
import { Menu, MenuItem } from '../../../ui/menu.tsx'
import { credits } from '../runs/run-dialog.tsx'
import { useSheet, useTotal } from '../sheet-view.ts'

/** The rows that run after saving. */
export type RowsToRun = 'empty_and_failed' | 'empty' | 'failed' | 'all'

/** Returns the field of a body that chooses the rows by the state of their cells in this action. */
const chooseRows = (rows: RowsToRun): { only?: 'empty' | 'failed' | 'empty_and_failed' } =>
  rows === 'all' ? {} : { only: rows }

/** Returns the call that runs the action in the chosen rows. */
export const runAction = (sheet: SheetId, action: string, rows: RowsToRun) =>
  sheetCall(sheet, 'POST /actions/:action_instance_id/run', {
    params: { action_instance_id: action },
    body: chooseRows(rows),
  })

/** Reads how many rows would run, and for how many credits. */
function useEstimate(action: string | null, rows: RowsToRun, isWanted = true) {
  const { sheet } = useSheet()
  const id = action ?? ''
  const body = { ...(rows === 'all' ? { all: true as const } : chooseRows(rows)), action_instance_id: id }
  const call = sheetCall(sheet, 'POST /estimate', { body })
  return useQuery({
    queryKey: keys.estimate(call),
    enabled: action !== null && isWanted,
    staleTime: 10_000,
    queryFn: () => fetchData(call),
  }).data
}

type Price = { rows: number; atMost: number | null }

/** Returns the price of the chosen rows. A new action has no estimate yet, only its price for each row. */
function usePrices(action: string | null, highest: number, isOpen: boolean) {
  const total = useTotal(useSheet().rows) ?? 0
  const all = useEstimate(action, 'all')
  const open = useEstimate(action, 'empty_and_failed')
  const empty = useEstimate(action, 'empty', isOpen)
  const failed = useEstimate(action, 'failed', isOpen)
  const print = (estimate: typeof all): Price | null =>
    estimate === undefined ? null : { rows: estimate.rows, atMost: estimate.credits.at_most }
  if (action === null) {
    const fresh = { rows: total, atMost: total * highest }
    return { all: fresh, empty: fresh, empty_and_failed: fresh, failed: { rows: 0, atMost: 0 } }
  }
  return {
    all: print(all),
    empty_and_failed: print(open),
    empty: print(empty),
    failed: print(failed),
  }
}

const NAMES: Readonly<Record<RowsToRun, string>> = {
  empty_and_failed: 'Empty and failed',
  empty: 'Empty',
  failed: 'Failed',
  all: 'All',
}
const CHOICES: readonly RowsToRun[] = ['empty_and_failed', 'empty', 'failed', 'all']

/** The button that saves and then runs rows, with a menu of which, and what they cost. */
export function SaveAndRun({
  action,
  highest,
  disabled,
  busy,
  onRun,
}: {
  /** The id of the action, or null before it is added. */
  action: string | null
  /** The highest price of one row. */
  highest: number
  disabled: boolean
  busy: boolean
  onRun: (rows: RowsToRun) => void
}) {
  const [chosen, setChosen] = useState<RowsToRun | null>(null)
  const [isOpen, setOpen] = useState(false)
  const prices = usePrices(action, highest, isOpen)
  const isOpenLeft = prices.empty_and_failed !== null && prices.empty_and_failed.rows > 0
  const usual: RowsToRun = action !== null && isOpenLeft ? 'empty_and_failed' : 'all'
  const rows = chosen ?? usual
  const price = prices[rows]
  if (price === null || prices.all === null || prices.all.rows === 0) return null
  return (
    <>
      <span className="flex">
        <Button
          className="rounded-r-none"
          disabled={disabled || price.rows === 0}
          busy={busy}
          onClick={() => onRun(rows)}
        >
          {`Save and run ${plural(price.rows, 'row')}`}
        </Button>
        <Menu
          onOpen={setOpen}
          trigger={
            <Button
              className="rounded-l-none border-l-0 px-1.5!"
              icon={ChevronDown}
              iconOnly
              disabled={disabled}
            >
              Rows to run
            </Button>
          }
        >
          {CHOICES.map((one) => (
            <MenuItem
              key={one}
              disabled={prices[one]?.rows === 0}
              note={prices[one] === null ? '…' : printPrice(prices[one])}
              onSelect={() => setChosen(one)}
            >
              {prices[one] === null ? NAMES[one] : `${NAMES[one]}: ${plural(prices[one].rows, 'row')}`}
            </MenuItem>
          ))}
        </Menu>
      </span>
      <span className="text-12 text-muted">{printPrice(price)}</span>
    </>
  )
}

function printPrice({ atMost }: Price): string {
  if (atMost === null) return 'no upper limit known'
  return atMost === 0 ? 'free' : `at most ${credits(atMost)}`
}
