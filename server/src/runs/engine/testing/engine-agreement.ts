import { expect } from 'vitest'
import { type Model, rowStatus } from './engine-model.ts'
import type { FlightSheet } from './flight-store-fixture.ts'

type Compared = { sheet: FlightSheet; model: Model }

/** Checks that the database has what the model says: cells, flights with their jobs, and the books. */
export async function expectAgreement({ sheet, model }: Compared): Promise<void> {
  const cells = [...model.cells].flatMap(([row_id, byAction]) =>
    [...byAction].map(([action, { status, credits, run: run_id }]) => ({
      row_id,
      action,
      status,
      credits,
      run_id,
    })),
  )
  const key = (cell: { row_id: string; action: string }) => `${cell.row_id} ${cell.action}`
  const sorted = cells.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
  expect(await sheet.cells()).toEqual(sorted)
  expect(await sheet.stopped()).toEqual([...model.stopped].toSorted())

  const flights = await sheet.flights()
  const seen = flights.map((flight) => [
    flight.row_id,
    flight.run_id,
    flight.action,
    flight.ticket,
    flight.attempt,
  ])
  const expected = [...model.flights].map(([row, flight]) => [
    row,
    flight.run,
    flight.action,
    flight.ticket,
    flight.attempt,
  ])
  expect(seen).toEqual(expected.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)))
  const clash = flights.filter((flight) => model.cells.get(flight.row_id)?.has(flight.action))
  expect(clash).toEqual([])

  const { credits, charges } = model
  const accounts = await sheet.accounts()
  expect(accounts).toMatchObject({ credits, ledger: credits, charges })
  expect(accounts.held).toBe(accounts.leases)
  expect(credits).toBeGreaterThanOrEqual(accounts.held)

  const [stranded] = await sheet.app.store.query<{ count: number }>({
    text: `select count(*) from flights f where f.org_id = $1 and not exists (
      select from graphile_worker._private_jobs j
      where j.payload->>'r' = f.row_id::text and j.payload->>'t' = f.ticket::text)`,
    values: [sheet.org.orgId],
  })
  expect(stranded?.count).toBe(0)
}

/** Checks the statuses of rows as callers see them. */
export async function expectStatuses({ sheet, model }: Compared): Promise<void> {
  const { body } = await sheet.org.call('POST', `${sheet.base}/rows/list`, { page_size: 200 })
  const rows: { row_id: string; row_status: string }[] = body.data.rows
  expect(rows.map(({ row_id, row_status }) => [row_id, row_status])).toEqual(
    [...model.rows].map((row) => [row, rowStatus(model, row)]),
  )
}
