import type { Call } from './calls.ts'

/** Returns a request to the public API as a shell command. The API key stays a variable. */
export function buildCurl({ method, path, body }: Call<unknown>): string {
  const lines = [
    `curl -X ${method} ${quote(`${location.origin}/api/v1${path}`)}`,
    `-H "Authorization: Bearer $LOAM_API_KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
