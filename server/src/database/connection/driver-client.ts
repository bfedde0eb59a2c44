import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'

type DriverClient = {
  processID: number
  connection: { stream: Socket }
  host: string
  user: string
  database: string
}

/** What is lent by a pool is a client of the driver, although its type does not say so. */
export const driverClient = (client: PoolClient): DriverClient => client as unknown as DriverClient
