import type { ReactNode } from 'react'
import { useTitle } from '../../frame/page.tsx'
import { classNames } from '../../ui/class-names.ts'

/** The page layout for people who are not signed in. */
export function Card({
  title,
  wide = false,
  children,
}: {
  title: string
  wide?: boolean
  children: ReactNode
}) {
  useTitle(title)
  return (
    <main className="flex min-h-full items-center justify-center bg-subtle p-4">
      <div
        className={classNames(
          'flex w-full flex-col gap-4 rounded-xl border bg-bg p-6',
          wide ? 'max-w-[480px]' : 'max-w-[360px]',
        )}
      >
        <img src="/icon.svg" alt="" width={32} height={32} />
        <h1 className="text-20 font-semibold wrap-anywhere">{title}</h1>
        {children}
      </div>
    </main>
  )
}
