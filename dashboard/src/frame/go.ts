import { useRouter } from '@tanstack/react-router'

/** Opens an address of ours that is written out, its query included. */
export function useGo(): (address: string) => void {
  const { history } = useRouter()
  return (address) => history.push(address)
}
