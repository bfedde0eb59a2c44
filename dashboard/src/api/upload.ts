import { API, type Call } from './calls.ts'
import { ApiError, csrfHeaders, readError } from './client.ts'

/** Uploads the bytes of a file. It does not use `fetch`, which reports no upload progress. */
export function uploadFile<Data>(
  { method, path }: Call<Data>,
  file: File,
  onProgress: (bytes: number) => void,
): Promise<Data> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(method, `${API}${path}`)
    request.responseType = 'json'
    request.setRequestHeader('content-type', 'application/octet-stream')
    for (const [name, value] of Object.entries(csrfHeaders())) request.setRequestHeader(name, value)
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () => {
      const body = request.response as { data: Data } | null
      if (request.status < 300 && body !== null) resolve(body.data)
      else reject(readError(body, request.status, request.getResponseHeader('x-request-id')))
    })
    request.addEventListener('error', () =>
      reject(new ApiError('The server cannot be reached', { status: 0, code: 'Unreachable' })),
    )
    request.send(file)
  })
}
