import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { RunAfter } from './rows.ts'
import { Spending } from './spending.ts'
import { Name } from './text.ts'

export const FILE_EXTENSIONS = ['csv', 'xlsx'] as const
export type FileExtension = (typeof FILE_EXTENSIONS)[number]

/** Returns the supported extension of a file name, or undefined if it has another one. */
export function getExtension(name: string): FileExtension | undefined {
  return FILE_EXTENSIONS.find((extension) => name.toLowerCase().endsWith(`.${extension}`))
}

/** Returns the error for a file name: a hint for old workbooks, otherwise the given text. */
export const explainFileName = (name: string, defaultError: string): string =>
  /\.xls$/i.test(name) ? OLD_WORKBOOK : defaultError

const OLD_WORKBOOK =
  'must be a .csv or .xlsx file: old .xls workbooks cannot be read. Open it in a spreadsheet program, save it as .xlsx and put it again'

const TEXT = 'must be well-formed text without NUL'
const isText = (text: string) => text.isWellFormed() && !text.includes('\0')

const FileRef = z
  .string()
  .refine((ref) => !/[^ -~]|[/\\]|\.\./.test(ref), 'must be the bare key of a file: no URL, no path, no `..`')
  .refine((ref) => getExtension(ref) !== undefined, {
    error: ({ input }) => explainFileName(String(input), 'must be the name of a .csv or .xlsx file'),
  })
  .describe('As returned by `POST /files` or printed by `loam file put`')

export const Mapping = z
  .record(z.string(), z.string())
  .refine((mapping) => Object.keys(mapping).length > 0, 'must map at least one column')
  .check((context) => {
    for (const path of Object.keys(context.value).filter((header) => !isText(header))) {
      context.issues.push({ code: 'custom', input: path, path: [path], message: TEXT })
    }
  })
  .describe('Maps column headers of the file (row 1) to input names; other columns are not imported')

export const ImportBody = z.strictObject({
  file_ref: FileRef,
  mapping: Mapping,
  sheet_name: z
    .string()
    .refine(isText, TEXT)
    .optional()
    .describe('The worksheet of an XLSX file; the first by default'),
  run_after_import: RunAfter.default('none'),
  ...Spending,
})

export const StartedImport = z.object({
  status: z.literal('processing'),
  sheet_id: Uuid,
  columns_mapped: z.int(),
})

export const ImportStatus = z
  .object({
    status: z.enum(['processing', 'completed', 'failed', 'unknown']),
    rows_imported: z.int(),
    error: z.string().optional().describe('Why it failed'),
  })
  .meta({ id: 'ImportStatus' })
export type ImportStatus = z.infer<typeof ImportStatus>

export const UploadQuery = z.strictObject({
  name: Name.refine((name) => getExtension(name) !== undefined, {
    error: ({ input }) =>
      explainFileName(String(input), 'must be the name of a file that ends in .csv or .xlsx'),
  }).describe('The file name; its extension gives the file type'),
})

export const StoredFile = z
  .object({
    file_ref: z.string().describe('The reference that Import CSV takes'),
    size_bytes: z.int(),
  })
  .meta({ id: 'StoredFile' })
