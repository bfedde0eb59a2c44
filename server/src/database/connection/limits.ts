import { type RawBuilder, sql } from 'kysely'

/**
 * The limits of an organisation, as the installation is set up. Every connection carries them in its settings, beside
 * the organisation that it speaks for.
 */
export type Limits = {
  rowsPerOrg: number
  storageMbPerOrg: number
  revisionsKept: number
  repushPerDay: number
}

const NAMES = {
  rowsPerOrg: 'loam.rows_per_org',
  storageMbPerOrg: 'loam.storage_mb_per_org',
  revisionsKept: 'loam.revisions_kept',
  repushPerDay: 'loam.repush_per_day',
} as const satisfies Record<keyof Limits, string>

export function toConnectionLimits(config: {
  LOAM_ROWS_PER_ORG: number
  LOAM_STORAGE_MB_PER_ORG: number
  LOAM_REVISIONS_KEPT: number
  LOAM_SEGMENT_REPUSH_PER_DAY: number
}): Limits {
  return {
    rowsPerOrg: config.LOAM_ROWS_PER_ORG,
    storageMbPerOrg: config.LOAM_STORAGE_MB_PER_ORG,
    revisionsKept: config.LOAM_REVISIONS_KEPT,
    repushPerDay: config.LOAM_SEGMENT_REPUSH_PER_DAY,
  }
}

/** Returns the connection options that set the limits. */
export function limitOptions(limits: Limits): string {
  return Object.entries(NAMES)
    .map(([limit, name]) => `-c ${name}=${limits[limit as keyof Limits]}`)
    .join(' ')
}

/** Returns the SQL expression of a limit. It is null on a connection without limits. */
export function limitSql(limit: keyof Limits): RawBuilder<number | null> {
  return sql`nullif(current_setting(${sql.lit(NAMES[limit])}, true), '')::bigint`
}
