# frozen_string_literal: true

module Polycache
  # What every error of Polycache is (spec/errors.md; the classes have the same names in every
  # language). Errors of a loader are not wrapped: +get_or_set+ raises them as they are.
  class Error < StandardError
    CODE = "error"
    RETRYABLE = false

    # @return [String] the stable name of this error, the same in every language
    def code = self.class::CODE

    # @return [Boolean] whether the same call may succeed later without a change by the caller
    def retryable? = self.class::RETRYABLE

    # The error of that code; the native extension calls this.
    # @api private
    def self.build(code, message, details)
      error = CLASSES.fetch(code).new(message)
      details.each { |name, value| error.instance_variable_set(:"@#{name}", value) }
      error
    end
  end

  # An option is unknown, or its value is out of range or of a wrong type.
  class InvalidArgument < Error
    CODE = "invalid_argument"
  end

  # The key is not a String or a Symbol, or its text has no UTF-8 form.
  class InvalidKey < Error
    CODE = "invalid_key"
  end

  # The value is not in the serializer's row of the type map, or the +encode+ of its type raised;
  # what it raised is the cause.
  class UnsupportedValue < Error
    CODE = "unsupported_value"
    # @return [String] the path to the culprit: "$" is the value itself, "$.user.tags[3]" a part
    attr_reader :path
  end

  # The +decode+ of a registered type does not accept the value that was read; what it raised is the
  # cause.
  class WrongType < Error
    CODE = "wrong_type"
    # @return [String] the path to the culprit: "$" is the value itself, "$.user.tags[3]" a part
    attr_reader :path
  end

  # Key and entry take more than a quarter of the directory, or the key more than a block; the key's
  # old value is gone.
  class EntryTooLarge < Error
    CODE = "entry_too_large"
    # @return [Integer] bytes that they take
    attr_reader :size
    # @return [Integer] bytes that they may take
    attr_reader :limit
  end

  # A value has more uncompressed bytes than +max_value+ allows, or too many values in it.
  class ValueTooLarge < Error
    CODE = "value_too_large"
    # @return [Integer] its bytes; or what its values count for, as far as they were counted
    attr_reader :size
    # @return [Integer] bytes that it may have
    attr_reader :limit
  end

  # The bytes are not an entry, or its payload does not decode.
  class MalformedEntry < Error
    CODE = "malformed_entry"
  end

  # The entry's checksum is wrong.
  class ChecksumMismatch < Error
    CODE = "checksum_mismatch"
  end

  # The entry format or the directory's layout is newer than this build.
  class UnsupportedVersion < Error
    CODE = "unsupported_version"
  end

  # The entry has a flag that this build does not know.
  class UnsupportedFlags < Error
    CODE = "unsupported_flags"
  end

  # The entry's serializer is unknown, or one that Ruby cannot decode.
  class UnsupportedSerializer < Error
    CODE = "unsupported_serializer"
  end

  # The entry's compressor is unknown.
  class UnsupportedCompressor < Error
    CODE = "unsupported_compressor"
  end

  # The entry is compressed with a dictionary that the cache is not configured with.
  class UnknownDictionary < Error
    CODE = "unknown_dictionary"
  end

  # The entry is plain, and the cache is configured with +encryption+.
  class NotEncrypted < Error
    CODE = "not_encrypted"
  end

  # The entry is encrypted under a key that the cache is not configured with.
  class UnknownEncryptionKey < Error
    CODE = "unknown_encryption_key"
  end

  # The entry was changed or moved, or its key is another one under the same id.
  class DecryptionFailed < Error
    CODE = "decryption_failed"
  end

  # The disk is full with nothing to recycle, or live processes write every block; the key's old
  # value is gone.
  class NoSpace < Error
    CODE = "no_space"
    RETRYABLE = true
  end

  # A network or FUSE file system, where memory is not shared, or btrfs, where a full disk would
  # end processes.
  class UnsupportedFilesystem < Error
    CODE = "unsupported_filesystem"
  end

  # The directory, or what it holds, is another user's or another program's.
  class ForeignDirectory < Error
    CODE = "foreign_directory"
  end

  # The cache can only be read: this process may not write to its files.
  class ReadOnly < Error
    CODE = "read_only"
  end

  # 4095 handles are open on the directory.
  class TooManyParticipants < Error
    CODE = "too_many_participants"
    RETRYABLE = true
  end

  # The host tier does not run on this platform.
  class UnsupportedPlatform < Error
    CODE = "unsupported_platform"
  end

  # The cache was closed.
  class Closed < Error
    CODE = "closed"
  end

  # An unknown Redis command: it is unclear which of its words are keys.
  class UnknownCommand < Error
    CODE = "unknown_command"
  end

  # A Redis command that touches the whole server, or that cannot stay inside a namespace here.
  class CommandNotAllowed < Error
    CODE = "command_not_allowed"
  end

  # The namespace cannot be used with this command.
  class InvalidNamespace < Error
    CODE = "invalid_namespace"
  end

  # The operating system failed; the message says how.
  class IoError < Error
    CODE = "io"
    RETRYABLE = true
  end

  # A caller waited +wait_timeout+ for the loads of others, and none brought the value.
  class WaitTimeout < Error
    CODE = "wait_timeout"
    RETRYABLE = true
  end

  # The cache's Redis or Valkey did not answer within +timeout+, or refused the command. What a
  # write was to do may have been done all the same.
  class RemoteUnavailable < Error
    CODE = "remote_unavailable"
    RETRYABLE = true
  end

  # The integer, or the sum, does not fit 64 bits with a sign; nothing was stored.
  class IntegerOverflow < Error
    CODE = "integer_overflow"
  end

  # Others changed the key each time that an update of it was tried; nothing was stored.
  class Conflict < Error
    CODE = "conflict"
    RETRYABLE = true
  end

  # The reply of a command cannot be cached; the message says why. Send it by the client itself.
  class UncacheableRead < Error
    # What +code+ says.
    CODE = "uncacheable_read"
  end

  class Error
    CLASSES = [
      InvalidArgument, InvalidKey, UnsupportedValue, WrongType, EntryTooLarge, ValueTooLarge,
      MalformedEntry, ChecksumMismatch, UnsupportedVersion, UnsupportedFlags, UnsupportedSerializer,
      UnsupportedCompressor, UnknownDictionary, NotEncrypted, UnknownEncryptionKey,
      DecryptionFailed, NoSpace,
      UnsupportedFilesystem, ForeignDirectory, ReadOnly,
      TooManyParticipants, UnsupportedPlatform, Closed, UnknownCommand, CommandNotAllowed,
      InvalidNamespace, IoError, WaitTimeout, RemoteUnavailable, IntegerOverflow,
      Conflict, UncacheableRead
    ].to_h { |error| [error::CODE, error] }.freeze
    private_constant :CLASSES
  end
end
