# frozen_string_literal: true

require "fiddle"

# What the gem brotli offers, over the system's own library: for the tests where the gem is not
# installed.
module Brotli
  begin
    ENCODER = Fiddle.dlopen("libbrotlienc.so.1")
    DECODER = Fiddle.dlopen("libbrotlidec.so.1")
  rescue Fiddle::DLError => e
    raise LoadError, e.message
  end

  SIZE = Fiddle::TYPE_SIZE_T
  POINTER = Fiddle::TYPE_VOIDP
  NUMBER = Fiddle::TYPE_INT
  COMPRESS = Fiddle::Function.new(ENCODER["BrotliEncoderCompress"],
                                  [NUMBER, NUMBER, NUMBER, SIZE, POINTER, POINTER, POINTER], NUMBER)
  DECOMPRESS = Fiddle::Function.new(DECODER["BrotliDecoderDecompress"],
                                    [SIZE, POINTER, POINTER, POINTER], NUMBER)

  def self.deflate(bytes, quality: 11)
    room(bytes.bytesize + 1024) do |size, out|
      COMPRESS.call(quality, 22, 0, bytes.bytesize, bytes, size, out)
    end
  end

  def self.inflate(bytes)
    room(1 << 22) { |size, out| DECOMPRESS.call(bytes.bytesize, bytes, size, out) }
  end

  def self.room(most)
    size = [most].pack("J")
    out = "\0".b * most
    raise "Brotli failed" unless yield(size, out) == 1

    out.byteslice(0, size.unpack1("J"))
  end
  private_class_method :room
end
