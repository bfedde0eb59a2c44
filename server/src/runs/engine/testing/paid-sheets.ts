import { expect } from 'vitest'
import type { TestApp } from '#test/plumbing/harness.ts'
import { PRICE } from './fault-catalogue.ts'
import { type FlightSheet, makeFlightSheet } from './flight-store-fixture.ts'

export const START = 100_000

/** Checks that the books agree with each other, and that this many cells were paid. */
export async function expectPaid(sheet: FlightSheet, cells: number): Promise<void> {
  const credits = START - cells * PRICE
  const accounts = await sheet.accounts()
  expect(accounts).toMatchObject({ credits, ledger: credits, charges: cells })
  expect(accounts.held).toBe(accounts.leases)
}

/** Makes a sheet of rows that run. */
export async function makePaidSheet(
  app: TestApp,
  rows: number,
  chain = ['paid', 'paid'],
): Promise<FlightSheet> {
  const sheet = await makeFlightSheet(app, chain, START)
  await sheet.addRows(rows)
  await sheet.run()
  return sheet
}
