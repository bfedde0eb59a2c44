import type { OpenAPIV3_1 } from 'openapi-types'

type Document = OpenAPIV3_1.Document
type Item = OpenAPIV3_1.PathItemObject

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

/**
 * Merges paths that differ only in the names of their parameters into the first of them, as OpenAPI requires.
 */
export function mergeEqualPaths(document: Document): Document {
  const merged = new Map<string, { path: string; item: Item }>()
  for (const [path, item = {}] of Object.entries(document.paths ?? {})) {
    const shape = path.replaceAll(/\{\w+\}/g, '{}')
    const first = merged.get(shape)
    if (first === undefined) merged.set(shape, { path, item })
    else
      merged.set(shape, {
        ...first,
        item: { ...first.item, ...renameParameters(item, namesIn(path), namesIn(first.path)) },
      })
  }
  const paths = Object.fromEntries([...merged.values()].map(({ path, item }) => [path, item]))
  return { ...document, paths }
}

/** Returns the item with its parameters renamed. The former names stay in the descriptions. */
function renameParameters(item: Item, from: readonly string[], to: readonly string[]): Item {
  const operations = Object.entries(item as Record<string, OpenAPIV3_1.OperationObject>)
  return Object.fromEntries(
    operations.map(([method, operation]) => {
      const parameters = operation.parameters?.map((parameter) => {
        const at = 'in' in parameter && parameter.in === 'path' ? from.indexOf(parameter.name) : -1
        const name = to[at]
        if (!('name' in parameter) || name === undefined || name === parameter.name) return parameter
        return { ...parameter, name, description: parameter.description ?? `The \`${parameter.name}\`` }
      })
      return [method, parameters === undefined ? operation : { ...operation, parameters }]
    }),
  )
}
