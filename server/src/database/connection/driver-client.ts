import type { Socket } from 'node:net'
import type { PoolClient } from 'pg'

type DriverClient = {
  processID: number
  connection: { stream: Socket }
  host: string
  user: string
  database: string
}

/** Returns the driver's client behind a pooled connection. The type of the pool does not say that it is one. */
export const driverClient = (client: PoolClient): DriverClient => client as unknown as DriverClient
