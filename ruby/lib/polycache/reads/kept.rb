# frozen_string_literal: true

require_relative "../memory/entry"
require_relative "../memory/store"

module Polycache
  module Reads
    # Replies in the memory of this process, each served while a read on this host would find it.
    # Calls are their keys. The caller holds a lock, but for +find+.
    class Kept
      # Bytes that an entry takes beside its value and its name, roughly.
      OVERHEAD = 400
      # Bytes of a word of a call beside its text.
      WORD = 60
      private_constant :OVERHEAD, :WORD

      # A reply of which each caller gets a copy of its own: its bytes.
      Copied = Struct.new(:packed)
      # What the store asks an entry for.
      Index = Struct.new(:index)
      private_constant :Copied, :Index

      # @param native [Native::Reads]
      # @param settings [Memory::Settings]
      def initialize(native, settings)
        @native = native
        @isolation = settings.isolation
        @index = {}
        @keeper = Index.new(@index)
        @store = Memory::Store.new(settings.max_entries, settings.max_bytes, settings.policy, nil)
        @ordered = @store.ordered?
      end

      def ordered? = @ordered

      # @return [Memory::Entry, nil] what may be served for a call
      def find(call)
        entry = @index[call]
        entry if entry && @native.stands?(entry.origin)
      end

      # That was found. Where uses are ordered, the caller holds the lock.
      def use(entry) = @store.hit(entry)

      # What every caller gets of a reply: one frozen object for all, or copies.
      #
      # @param reply [Object] which has no other owner; what it is that was packed
      def isolate(reply, packed)
        case @isolation
        when "none" then reply
        when "freeze" then Native::Reply.unpack(packed, true)
        else Copied.new(packed)
        end
      end

      # What a caller gets of what +isolate+ gave.
      def self.hand_out(kept)
        kept.is_a?(Copied) ? Native::Reply.unpack(kept.packed, false) : kept
      end

      # Keeps what was found at an origin, as +isolate+ gave it, or anything made of it.
      def put(call, kept, bytes, origin)
        bytes += OVERHEAD + size(call)
        entry = Memory::Entry.new(@keeper, call, kept, nil, bytes, nil, nil, origin)
        return @store.put(entry) if bytes <= @store.max_bytes

        found = @index[call]
        @store.remove(found, :replaced) if found
      end

      def clear
        @index.clear
        @store.start
      end

      private

      # Bytes of the words of a call, which may be far larger than the reply.
      def size(given)
        case given
        when String then WORD + given.bytesize
        when Array then given.sum(WORD) { |one| size(one) }
        when Hash then given.sum(WORD) { |pair| size(pair) }
        else WORD
        end
      end
    end
  end
end
